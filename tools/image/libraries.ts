// The libraries that programs of this machine need, found the way its loader finds them, without running anything.

import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readElf } from './elf.ts';

/** What programs need to run: the loader at its own path, and libraries by their names. */
export interface Needed {
  interpreters: Set<string>;
  /** From the name under which it is searched for to the file. */
  libraries: Map<string, string>;
}

/** Everything that these programs need, and what that needs; what is among them anyway is left out. */
export function neededBy(programs: readonly string[], search = searchFolders()): Needed {
  const found: Needed = { interpreters: new Set(), libraries: new Map() };
  const queue = [...programs];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    const { interpreter, needed, runpath } = readElf(readFileSync(file));
    if (interpreter !== undefined) found.interpreters.add(interpreter);
    const own = runpath.map((path) => path.replace(/\$\{?ORIGIN\}?/g, dirname(realpathSync(file ?? ''))));
    for (const name of needed) {
      if (found.libraries.has(name) || isLoader(name)) continue;
      const library = locate(name, [...own, ...search], file);
      if (programs.includes(library)) continue;
      found.libraries.set(name, library);
      queue.push(library);
    }
  }
  return found;
}

/** The loader itself is also a library that others name; it has its place already. */
const isLoader = (name: string): boolean => /^ld-linux.*\.so\.\d+$/.test(name);

function locate(name: string, folders: readonly string[], needing: string): string {
  const folder = folders.find((one) => existsSync(join(one, name)));
  if (folder === undefined) throw new Error(`${needing} needs ${name}, which is in none of ${folders.join(', ')}`);
  return realpathSync(join(folder, name));
}

/** Where the loader of this machine looks. */
function searchFolders(): string[] {
  return [...configured('/etc/ld.so.conf'), '/lib64', '/usr/lib64', '/lib', '/usr/lib'];
}

function configured(file: string): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const words = line.replace(/#.*/, '').trim();
    const included = /^include\s+(.*)$/.exec(words)?.[1];
    if (included !== undefined)
      return globSync(resolve(dirname(file), included))
        .toSorted()
        .flatMap(configured);
    return words === '' ? [] : [words];
  });
}
