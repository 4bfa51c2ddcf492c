// The volume as a download leaves it: the weights at the top, and one folder of our own with the marker that says they are
// complete. Moving them there is written down first, so that a crash in the middle is finished by the next run.

import { access, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Refused } from '../outcome.ts';
import { ownFolder, shown } from '../unpack/index.ts';
import { readBack, syncFolder, writeSafely } from './files.ts';

/** What is on a volume, complete. */
export interface Complete {
  format: 1;
  /** Which source, and how it is arranged, as a hash: a URL may hold secrets. */
  source: string;
  /** `sha256:...` of what was fetched. */
  digest: string;
  /** How much was fetched. */
  bytes: number;
  /** The names at the top of the volume. */
  entries: string[];
}

/** What is about to be complete. */
interface Moving extends Complete {
  moves: Move[];
}

/** A file or folder that gets its place. */
export type Move = [from: string, to: string];

/** A mounted volume. */
export class Volume {
  readonly #target: string;
  readonly #own: string;

  constructor(target: string) {
    this.#target = target;
    this.#own = join(target, ownFolder);
  }

  /** A path in our own folder. */
  own(...parts: string[]): string {
    return join(this.#own, ...parts);
  }

  /** Makes our folder; gives what an earlier run completed of this source, if everything of it is still there. */
  async open(source: string): Promise<Complete | undefined> {
    await mkdir(this.own('parts'), { recursive: true });
    const moved = await this.#finishBegun(source);
    if (moved) return moved;
    const marker = await readBack(this.own('complete.json'));
    const before = isComplete(marker) ? marker : undefined;
    if (before?.source === source && (await this.#hasAll(before.entries))) return before;
    if (before) await this.#remove(before.entries);
    return undefined;
  }

  /** Ends a move that was begun: it is finished, or what it brought so far goes, because nobody wants it or it cannot end. */
  async #finishBegun(source: string): Promise<Complete | undefined> {
    const begun = await readBack(this.own('moving.json'));
    if (!isComplete(begun) || !isMoving(begun)) return undefined;
    if (begun.source === source)
      try {
        return await this.#move(begun);
      } catch (error) {
        if (!misfits.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      }
    await this.#remove(begun.entries);
    await this.#clear([]);
    await mkdir(this.own('parts'));
    return undefined;
  }

  /** Forgets what is complete: something else is asked for. */
  async forget({ entries }: Complete): Promise<void> {
    await this.#remove(entries);
  }

  /** Removes what was fetched for something else; gives the room that what is left takes. */
  async keepParts(wanted: ReadonlySet<string>): Promise<number> {
    let size = 0;
    for (const name of await readdir(this.own('parts'))) {
      const path = this.own('parts', name);
      if (!wanted.has(name.replace(/\..*$/, ''))) await rm(path, { force: true });
      else if (!name.includes('.')) size += await held(path);
    }
    return size;
  }

  /** Gives everything its place and marks it complete. Names that strangers hold are not taken. */
  async finish(done: Omit<Complete, 'format' | 'entries'>, moves: readonly Move[]): Promise<Complete> {
    const entries = [...new Set(moves.map(([, to]) => to.split('/')[0] ?? ''))];
    const there = new Set(await readdir(this.#target));
    const taken = entries.find((entry) => there.has(entry));
    if (taken !== undefined)
      throw new Refused(
        'VolumeOccupied',
        `the volume holds ${shown(taken)} already, which no download put there; remove it, or delete the claim`,
      );
    const begun = { format: 1 as const, ...done, entries, moves: [...moves] };
    await writeSafely(this.own('moving.json'), begun);
    return this.#move(begun);
  }

  async #move({ moves, ...done }: Moving): Promise<Complete> {
    const folders = new Set([this.#target]);
    for (const [from, to] of moves) {
      const place = join(this.#target, to);
      await mkdir(dirname(place), { recursive: true });
      await rename(this.own(from), place).catch(async (error: NodeJS.ErrnoException) => {
        // Moved before the crash.
        if (error.code !== 'ENOENT' || !(await exists(place))) throw error;
      });
      folders.add(dirname(place));
    }
    for (const folder of folders) await syncFolder(folder);
    await writeSafely(this.own('complete.json'), done);
    await this.#clear(['complete.json']);
    return done;
  }

  async #hasAll(entries: readonly string[]): Promise<boolean> {
    for (const entry of entries) if (!(await exists(join(this.#target, entry)))) return false;
    return true;
  }

  async #remove(entries: readonly string[]): Promise<void> {
    await rm(this.own('complete.json'), { force: true });
    for (const entry of entries) await rm(join(this.#target, entry), { recursive: true, force: true });
  }

  async #clear(kept: readonly string[]): Promise<void> {
    for (const name of await readdir(this.#own))
      if (!kept.includes(name)) await rm(this.own(name), { recursive: true, force: true });
  }
}

/** What a file takes on the disk. Pieces are written where they belong, so there may be holes between them. */
async function held(path: string): Promise<number> {
  const { size, blocks } = await stat(path);
  return Math.min(size, blocks * 512);
}

/** What a disk says when files are not where the note has them: it says the same each time. */
const misfits: ReadonlySet<string> = new Set(['ENOENT', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST']);

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const areNames = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string');

function isComplete(value: unknown): value is Complete {
  const { format, source, digest, bytes, entries } = (value ?? {}) as Partial<Record<keyof Complete, unknown>>;
  const texts = typeof source === 'string' && typeof digest === 'string';
  return format === 1 && texts && Number.isSafeInteger(bytes) && areNames(entries);
}

const isMoving = (value: Complete): value is Moving =>
  'moves' in value && Array.isArray(value.moves) && value.moves.every(areNames);
