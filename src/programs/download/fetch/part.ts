// A file while it is being fetched, and the note beside it that says which of its bytes are there. The note is written
// only after those bytes are on the disk, so that whatever crashes, what it claims is true, and the next run goes on there.

import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Clock, Following, Hasher } from '../../../base/index.ts';
import { readBack, writeSafely } from '../volume/files.ts';
import { Ranges, type Stretch } from './ranges.ts';
import type { Validator } from './validator.ts';

/** What the note says. */
interface Note {
  /** Which source it is, without saying so: a URL may hold secrets. */
  source: string;
  total: number;
  validator: Validator;
  encoding?: string;
  done: Stretch[];
}

/** What the first answer says of the file. */
export interface Known {
  total?: number | undefined;
  validator: Validator;
  /** How its bytes are encoded, where they are. */
  encoding?: string;
  /** Whether the rest of it can be asked for later. */
  canResume: boolean;
}

/** After so many bytes, or milliseconds, the note is written anew. */
const between = { bytes: 64 * 1024 * 1024, time: 5_000 };

interface PartOptions {
  /** Which source it is. */
  source: string;
  hasher: Hasher;
  clock: Clock;
}

/** One file of a download. */
export class Part {
  readonly path: string;
  readonly #source: string;
  readonly #file: FileHandle;
  readonly #hasher: Hasher;
  readonly #clock: Clock;
  #following: Following;
  #known: Known | undefined;
  #done = new Ranges();
  #unnoted = 0;
  #noted: number;
  #noting: Promise<void> = Promise.resolve();

  private constructor(path: string, file: FileHandle, { source, hasher, clock }: PartOptions) {
    this.path = path;
    this.#source = source;
    this.#file = file;
    this.#hasher = hasher;
    this.#clock = clock;
    this.#noted = clock.monotonic();
    this.#following = hasher.follow(path);
  }

  /** Opens it, with what an earlier run left of the same source. */
  static async open(path: string, options: PartOptions): Promise<Part> {
    const before = await readNote(`${path}.json`, options.source);
    const file = await open(path, before ? 'a+' : 'w+').then(async (made) => {
      await made.close();
      return open(path, 'r+');
    });
    const part = new Part(path, file, options);
    const { size } = await file.stat();
    if (before?.done.every(([, to]) => to <= size) !== true) return part;
    const { done, ...known } = before;
    part.#known = { ...known, canResume: true };
    part.#done = new Ranges(done);
    part.#following.upto(part.#done.frontier);
    return part;
  }

  /** What is known since the first answer, of this run or an earlier one. */
  get known(): Known | undefined {
    return this.#known;
  }

  get total(): number | undefined {
    return this.#known?.total;
  }

  get validator(): Validator | undefined {
    return this.#known?.validator;
  }

  get canResume(): boolean {
    return this.#known?.canResume === true;
  }

  get bytes(): number {
    return this.#done.size;
  }

  missing(from: number, to: number): ReturnType<Ranges['missing']> {
    return this.#done.missing(from, to);
  }

  /** The source has told how long it is, and by what a change can be seen. */
  begin(known: Known): void {
    this.#known = known;
  }

  /** Writes bytes to their place. */
  async write(bytes: Uint8Array, at: number): Promise<void> {
    let written = 0;
    while (written < bytes.length)
      written += (await this.#file.write(bytes, written, bytes.length - written, at + written)).bytesWritten;
    const before = this.#done.frontier;
    this.#done.add(at, at + bytes.length);
    if (this.#done.frontier > before) this.#following.upto(this.#done.frontier);
    this.#unnoted += bytes.length;
    const late = this.#clock.monotonic() - this.#noted > between.time;
    if (late || this.#unnoted >= between.bytes) void this.keep().catch(() => {});
  }

  /** Puts what is there on the disk, and notes it. */
  keep(): Promise<void> {
    this.#unnoted = 0;
    this.#noted = this.#clock.monotonic();
    this.#noting = this.#noting.catch(() => {}).then(() => this.#note());
    return this.#noting;
  }

  async #note(): Promise<void> {
    const { total, validator, encoding, canResume } = this.#known ?? {};
    if (canResume !== true) return;
    const done = [...this.#done.all];
    await this.#file.datasync();
    await writeSafely(`${this.path}.json`, { source: this.#source, total, validator, encoding, done });
  }

  /** Everything is there: puts it on the disk and gives the digest. */
  async finish(): Promise<{ digest: string; bytes: number; encoding: string | undefined }> {
    const bytes = this.#done.frontier;
    const [digest] = await Promise.all([
      this.#following.finish(bytes),
      this.#file.truncate(bytes).then(() => this.#file.sync()),
    ]);
    await this.#noting.catch(() => {});
    return { digest, bytes, encoding: this.#known?.encoding };
  }

  /** Forgets what was fetched: it belongs to something else. */
  async clear(): Promise<void> {
    await this.#noting.catch(() => {});
    this.#following.drop();
    await rm(`${this.path}.json`, { force: true });
    await this.#file.truncate(0);
    this.#known = undefined;
    this.#done = new Ranges();
    this.#following = this.#hasher.follow(this.path);
  }

  async close(): Promise<void> {
    this.#following.drop();
    await this.#noting.catch(() => {});
    await this.#file.close();
  }
}

/** What was noted for the same source; a note that cannot be read is none. */
async function readNote(path: string, source: string): Promise<Note | undefined> {
  const note = (await readBack(path)) as Partial<Note> | undefined;
  const { total, validator, done } = note ?? {};
  const isRead = isCount(total) && typeof validator === 'object' && Array.isArray(done) && done.every(isStretch);
  return note?.source === source && isRead ? (note as Note) : undefined;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const isStretch = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && value.every(isCount) && Number(value[0]) < Number(value[1]);
