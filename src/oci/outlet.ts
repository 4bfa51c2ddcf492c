// Bytes into a file, in large writes, one of which is on its way while the next one is gathered: small pieces come from a
// network, and a disk is waited for as little as possible.

import { type FileHandle, open } from 'node:fs/promises';

const gathered = 1024 * 1024;

/** A file that is being written from its beginning. */
export class Outlet implements AsyncDisposable {
  readonly #file: FileHandle;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #writing: Promise<void> | undefined;
  #failed: unknown;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async to(path: string): Promise<Outlet> {
    return new Outlet(await open(path, 'wx', 0o644));
  }

  /** Takes a piece; waits only while a full write is before it. */
  async write(piece: Uint8Array): Promise<void> {
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size >= gathered) await this.#flush();
  }

  /** Waits until everything is in the file. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#written();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    await this.#written();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#size = 0;
    if (pieces.length > 0) this.#writing = this.#all(pieces).catch((error: unknown) => void (this.#failed = error));
  }

  async #written(): Promise<void> {
    await this.#writing;
    this.#writing = undefined;
    if (this.#failed !== undefined) throw this.#failed;
  }

  /** A disk that fills up takes less than it was given before it says so. */
  async #all(pieces: Uint8Array[]): Promise<void> {
    const whole = pieces.reduce((sum, { length }) => sum + length, 0);
    const { bytesWritten } = await this.#file.writev(pieces);
    if (bytesWritten < whole) await this.#file.writeFile(Buffer.concat(pieces).subarray(bytesWritten));
  }
}
