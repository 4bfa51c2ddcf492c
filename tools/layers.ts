// Who may import whom, and by which door: the walls between folders that one package does not give by itself. Pure:
// sources go in, complaints come out. Imports are found by their written form, which the formatter keeps regular.

import { posix } from 'node:path';

const parts = ['base', 'objects', 'schema', 'api', 'oci', 'kube', 'helm', 'serving', 'controllers/*', 'programs/*'];

/** What a folder may know. A star stands for every folder below. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  objects: [],
  schema: ['base', 'objects'],
  api: ['base', 'objects', 'schema'],
  oci: ['base'],
  kube: ['base', 'objects'],
  helm: ['base', 'objects'],
  serving: ['api', 'objects', 'kube'],
  'controllers/*': ['api', 'objects', 'helm', 'kube', 'serving'],
  'programs/*': ['base', 'api', 'oci'],
  operator: parts,
  cli: parts,
  'console/server': parts,
  'console/web': ['api', 'objects'],
  olm: parts,
};

/** What the image runs: the one file of src that is in no folder. */
const entrypoint = 'src/main.ts';

/** A file as it stands in the repository: its path from the root, with slashes. */
export interface Source {
  path: string;
  text: string;
}

/** One import, re-export or import() of a file. `types` is true when nothing of it is left at run time. */
export interface Import {
  line: number;
  path: string;
  types: boolean;
}

/** Every complaint about these sources, one readable line each. */
export const complaints = (sources: readonly Source[]): string[] =>
  sources.flatMap(({ path, text }) => importsOf(text).flatMap((found) => complaint(path, found) ?? []));

const written = [
  /^(?:import|export) (?<types>type )?[^;'"]*?from '(?<path>[^']+)'/gm,
  /^import '(?<path>[^']+)'/gm,
  /(?<!^\s*(?:\/\/|\*).*)\bimport\((?:\s*\/\*.*?\*\/)?\s*['"`](?<path>[^'"`]+)['"`]/gm,
];

/** The imports of a source, in all their written forms. */
export function importsOf(text: string): Import[] {
  const found = written.flatMap((form) => [...text.matchAll(form)]);
  return found
    .map(({ index, groups }) => ({
      line: text.slice(0, index).split('\n').length,
      path: groups?.['path'] ?? '',
      types: groups?.['types'] !== undefined,
    }))
    .toSorted((a, b) => a.line - b.line);
}

/** What is wrong with one import and what to do, or nothing. */
function complaint(importer: string, { line, path, types }: Import): string | undefined {
  if (!path.startsWith('.')) return undefined;
  const imported = posix.join(posix.dirname(importer), path);
  const [from, to] = [folderOf(importer), folderOf(imported)];
  if (from === to || to === undefined || from === undefined) return undefined;
  if (importer === entrypoint && imported.startsWith('src/') && imported.endsWith('/main.ts')) return undefined;
  const wrong = wrongDirection(importer, imported, types) ?? wrongDoor(from, imported);
  return wrong && `${importer}:${line} imports '${path}': ${wrong}`;
}

function wrongDirection(importer: string, imported: string, types: boolean): string | undefined {
  const [from, to] = [folderOf(importer) ?? '', folderOf(imported) ?? ''];
  if (!importer.startsWith('src/')) return undefined;
  if (!imported.startsWith('src/')) return outOfSource(importer, imported, to);
  if (importer === entrypoint) return `${entrypoint} starts programs: it may import a main.ts, and nothing else.`;
  const allowed = mayImport[row(from)];
  if (!allowed) return `${from} is not in the table of layers; give it a row in tools/layers.ts and ARCHITECTURE.md`;
  if (!allowed.includes(row(to))) return `${from} may import ${listed(allowed)}. ${remedy(from, to)}`;
  if (from === 'console/web' && !types)
    return `${from} may import only types of ${to}. Write 'import type', or send the value from console/server.`;
  return undefined;
}

function outOfSource(importer: string, imported: string, to: string): string | undefined {
  const test = importer.endsWith('.test.ts');
  if (test && imported.startsWith('tests/kit/')) return undefined;
  return test
    ? `a test beside the code may use only tests/kit of what is outside src. Move the test to tests/ if it needs more.`
    : `nothing in src may import ${to}. Move what is needed into src, or hand it in as an argument.`;
}

/** Ways out of a wrong direction, for the cases that have one of their own. */
function remedy(from: string, to: string): string {
  if (row(from) === 'controllers/*' && row(to) === 'controllers/*')
    return 'Kinds speak through objects: write or read an object of that kind instead.';
  if (row(from) === 'programs/*' && to === 'kube')
    return 'A pod of ours has no token: leave talking to the API server to a controller, and report by exit code and termination message.';
  return `Move what is needed down into a folder that both may import, or hand it in as an argument.`;
}

function wrongDoor(from: string, imported: string): string | undefined {
  const doors = doorsOf(from, imported);
  if (!doors || doors.includes(imported)) return undefined;
  return `only ${doors.join(' or ')} is a door for ${from}. Import it from there, and export it there if it is missing.`;
}

/** The files by which `from` may enter the folder of `imported`; undefined where every file is one. */
function doorsOf(from: string, imported: string): string[] | undefined {
  const to = folderOf(imported) ?? '';
  if (imported.startsWith('tests/kit/')) return undefined;
  if (to === 'controlplane')
    return ['controlplane/index.ts', 'controlplane/faults/index.ts', 'controlplane/node/index.ts'];
  if (to === 'kube' && isPure(from)) return ['src/kube/define.ts'];
  if (to === 'kube') return ['src/kube/index.ts', 'src/kube/define.ts'];
  if (to === 'api') return ['src/api/index.ts', 'src/api/contract.ts'];
  return [imported.startsWith('src/') ? `src/${to}/index.ts` : `${to}/index.ts`];
}

/** Whether a folder only decides: of the engine it knows the vocabulary and nothing that does anything. */
const isPure = (folder: string): boolean => folder === 'serving' || row(folder) === 'controllers/*';

/** Folders of src that are walls in themselves one step further down. */
const divided = new Set(['controllers', 'programs', 'console']);

/** The folder that has the walls; undefined for files at the root, which belong to nobody. */
function folderOf(path: string): string | undefined {
  const [top, folder, below, ...rest] = path.split('/');
  if (folder === undefined) return undefined;
  if (top !== 'src') return top;
  return divided.has(folder) && rest.length > 0 ? `${folder}/${below}` : folder;
}

/** The row of the table that speaks of a folder. */
const row = (folder: string): string => folder.replace(/^(controllers|programs)\/.*/, '$1/*');

const listed = (folders: readonly string[]): string =>
  folders.length === 0 ? 'nothing of ours' : `only ${folders.join(', ')}`;
