// The memory of a download: a few blocks that go round between network and disk. When all are on their way to the disk the
// network waits, so a slow disk costs time and no memory.

/** Equal pieces of memory that are lent and given back. */
export class Blocks {
  readonly #free: Buffer[];
  #waiting: (() => void)[] = [];

  constructor(count: number, size: number) {
    this.#free = Array.from({ length: count }, () => Buffer.allocUnsafeSlow(size));
  }

  take(): Buffer | undefined {
    return this.#free.pop();
  }

  give(block: Buffer): void {
    this.#free.push(block);
    const woken = this.#waiting;
    this.#waiting = [];
    for (const wake of woken) wake();
  }

  /** Calls back when a block came back; it may be gone again by then. */
  whenFree(wake: () => void): void {
    if (this.#free.length > 0) wake();
    else this.#waiting.push(wake);
  }
}
