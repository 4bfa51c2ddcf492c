// How far a download is, and whether it is worth waiting for: a source that gives less than a little over a whole window
// of time is too slow. Only time in which something should have come counts; a failing connection is another matter.

/** How slow is too slow. */
export interface Pace {
  /** Bytes a second. */
  least: number;
  /** Seconds over which that is looked at. */
  window: number;
}

/** Counts bytes, and judges the pace once a second. */
export class Meter {
  readonly #pace: Pace;
  readonly #window: number[] = [];
  readonly #sizes = new Map<string, number | undefined>();
  #bytes = 0;
  #flowing = 0;
  #came = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** What is there, and what there will be if all files have told. */
  get progress(): { bytes: number; total?: number } {
    const sizes = [...this.#sizes.values()];
    const total = sizes.reduce<number | undefined>(
      (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    );
    return { bytes: this.#bytes, ...(total !== undefined && total >= this.#bytes && total > 0 && { total }) };
  }

  /** How large a file is, as far as it is known. */
  announce(path: string, size: number | undefined): void {
    this.#sizes.set(path, size);
  }

  /** Bytes that are there already, or less than none for such as turned out to be worthless. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Bytes that came. */
  add(bytes: number): void {
    this.#bytes += bytes;
    this.#came += bytes;
  }

  /** While this runs, bytes should come. */
  async during<T>(task: () => Promise<T>): Promise<T> {
    this.#flowing++;
    try {
      return await task();
    } finally {
      this.#flowing--;
    }
  }

  /** A second has passed. Says so when the source has been too slow for a whole window. */
  second(): string | undefined {
    const came = this.#came;
    this.#came = 0;
    if (this.#flowing === 0) return undefined;
    this.#window.push(came);
    if (this.#window.length <= this.#pace.window) return undefined;
    this.#window.shift();
    const sum = this.#window.reduce((a, b) => a + b, 0);
    const { window, least } = this.#pace;
    return sum < window * least
      ? `${sum} bytes came in ${window} s of waiting; ${least} a second are the least`
      : undefined;
  }
}
