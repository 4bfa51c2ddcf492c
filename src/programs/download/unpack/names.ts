// Which names from outside may become files. Names that a file system, a person or another program could read as something
// else are refused rather than mended, and so is a second name for one place, however it is spelled.

import { Refused } from '../outcome.ts';

const longest = { part: 255, path: 1_024, depth: 64 };

/** Our own folder at the top of the volume. */
export const ownFolder = '.baton';

/** What some systems take for the name of a disk. */
const drive = /^[a-zA-Z]:/;

/** The path that a name means, from the top of the tree; empty for the top itself. */
export function pathOf(name: string): { path: string } | { wrong: string } {
  const wrong = faultOf(name);
  if (wrong !== undefined) return { wrong };
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length > longest.depth) return { wrong: `it is more than ${longest.depth} folders deep` };
  if (parts.some((part) => Buffer.byteLength(part) > longest.part))
    return { wrong: `a part of it is longer than ${longest.part} bytes` };
  if (parts[0]?.toLowerCase() === ownFolder) return { wrong: `${ownFolder} is the folder of the download itself` };
  const path = parts.join('/');
  return drive.test(path) ? { wrong: 'it is an absolute path' } : { path };
}

function faultOf(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (Buffer.byteLength(name) > longest.path) return `it is longer than ${longest.path} bytes`;
  if (/^[/\\]/.test(name) || drive.test(name)) return 'it is an absolute path';
  if (name.split(/[/\\]/).includes('..')) return 'it leads out of the folder';
  if (name.includes('\\')) return 'it has a backslash';
  if (/[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{fffd}]/u.test(name)) return 'it has characters that cannot be shown';
  return undefined;
}

/** The places of a tree that are taken. */
export class Places {
  /** By spelling without case and composition, to the spelling and kind that was first. */
  readonly #taken = new Map<string, { path: string; kind: 'file' | 'folder' }>();

  /** Takes the place of a file or folder, and of all folders above. */
  take(path: string, kind: 'file' | 'folder'): { wrong: string } | undefined {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const wrong = this.#one(parts.slice(0, depth).join('/'), 'folder');
      if (wrong) return wrong;
    }
    return this.#one(path, kind);
  }

  #one(path: string, kind: 'file' | 'folder'): { wrong: string } | undefined {
    const key = path.normalize('NFKC').toLowerCase();
    const there = this.#taken.get(key);
    if (!there) this.#taken.set(key, { path, kind });
    if (!there || (there.path === path && kind === 'folder' && there.kind === 'folder')) return undefined;
    return { wrong: there.path === path ? 'it is there twice' : `it is there twice, once as ${shown(there.path)}` };
  }
}

/** A name in a message. */
export const shown = (name: string): string => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}...` : name);

/** The refusal of an archive because of one entry. */
export const unsafe = (name: string, why: string): Refused =>
  new Refused('UnsafeArchive', `the archive is refused because of its entry ${shown(name)}: ${why}`);

/** The refusal of an archive that cannot be read. */
export const damaged = (why: string, cause?: unknown): Refused =>
  new Refused('UnsafeArchive', `the archive cannot be read: ${why}`, cause);
