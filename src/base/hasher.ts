// SHA-256 of files while they grow, in a thread of its own. It reads behind the writer, up to where there is no gap: out of
// the page cache that costs a tenth of the hashing, and works the same for parallel ranges and for what an earlier run left.

import { Worker } from 'node:worker_threads';

/** The thread. It is a text so that a program bundled into one file can start it. */
const thread = `
const { parentPort } = require('node:worker_threads');
const { createHash } = require('node:crypto');
const { openSync, readSync, closeSync } = require('node:fs');
const files = new Map();
const buffer = Buffer.allocUnsafeSlow(262144);
function advance(file, upto) {
  while (file.at < upto) {
    const count = readSync(file.fd, buffer, 0, Math.min(buffer.length, upto - file.at), file.at);
    if (count === 0) throw new Error('the file is shorter than what was written to it');
    file.hash.update(buffer.subarray(0, count));
    file.at += count;
  }
}
parentPort.on('message', ({ id, path, upto, end, drop }) => {
  try {
    if (path !== undefined) files.set(id, { fd: openSync(path, 'r'), hash: createHash('sha256'), at: 0 });
    const file = files.get(id);
    if (!file) return;
    if (upto !== undefined) advance(file, upto);
    if (end) parentPort.postMessage({ id, digest: file.hash.digest('hex') });
    if (!end && !drop) return;
    closeSync(file.fd);
    files.delete(id);
  } catch (error) {
    parentPort.postMessage({ id, error: error.message });
  }
});
`;

interface Told {
  id: number;
  digest?: string;
  error?: string;
}

/** A file that is being hashed. */
export interface Following {
  /** So many bytes are there from the beginning. */
  upto(count: number): void;
  /** All are: the digest, in hexadecimal. */
  finish(count: number): Promise<string>;
  drop(): void;
}

/** The thread and the files that it follows. */
export class Hasher implements AsyncDisposable {
  readonly #worker = new Worker(thread, {
    eval: true,
    name: 'hasher',
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  readonly #waiting = new Map<number, { resolve: (digest: string) => void; reject: (error: Error) => void }>();
  readonly #failed = new Map<number, Error>();
  #next = 0;

  constructor() {
    this.#worker.on('message', (told: Told) => this.#heard(told));
    this.#worker.on('error', (error: Error) => this.#waiting.forEach(({ reject }) => reject(error)));
  }

  /** Follows a file from its beginning. */
  follow(path: string): Following {
    const id = this.#next++;
    const tell = (told: object) => this.#worker.postMessage({ id, ...told }, []);
    tell({ path });
    return {
      upto: (upto) => tell({ upto }),
      drop: () => tell({ drop: true }),
      finish: (upto) =>
        new Promise((resolve, reject) => {
          const error = this.#failed.get(id);
          if (error) return reject(error);
          this.#waiting.set(id, { resolve, reject });
          tell({ upto, end: true });
        }),
    };
  }

  #heard({ id, digest, error }: Told): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (digest !== undefined) waiting?.resolve(digest);
    else if (waiting) waiting.reject(new Error(error));
    else this.#failed.set(id, new Error(error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
