// Requests wait here for the model. One run is under way at a time, because a run uses all threads that there are; what has come in
// meanwhile is run together next, where the model allows it. A request that finds the model idle waits for nobody.

import { asError } from '../../../base/index.ts';
import type { Tensor } from '../protocol/types.ts';
import { joined, likenessOf, rowsOf, split } from './batch.ts';
import type { Runner } from './session.ts';

/** One request. */
export interface Job {
  inputs: readonly Tensor[];
  outputs: readonly string[];
  /** Whether nobody waits for the result any more. */
  gone: () => boolean;
}

export interface QueueOptions {
  /** Most rows in a run; 1 runs every request alone. */
  rows: number;
  /** Most requests that wait. */
  length: number;
  /** Told about every run. */
  ran: (batch: { requests: number; rows: number; ms: number }) => void;
  now: () => number;
  /** Rows did not come out as they went in, so nothing is run together any more. */
  mixed: () => void;
}

interface Waiting extends Job {
  likeness: string | undefined;
  rows: number;
  resolve: (outputs: Tensor[]) => void;
  reject: (error: Error) => void;
}

export class Queue {
  readonly #runner: Runner;
  readonly #options: QueueOptions;
  #rows: number;
  #waiting: Waiting[] = [];
  #running = false;

  constructor(runner: Runner, options: QueueOptions) {
    this.#runner = runner;
    this.#options = options;
    this.#rows = options.rows;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** The outputs of a request, or that there are too many already. */
  submit(job: Job): Promise<Tensor[]> | 'full' {
    if (this.#waiting.length >= this.#options.length) return 'full';
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...job, ...this.#kindOf(job), resolve, reject });
      if (!this.#running) this.#start();
    });
  }

  #kindOf({ inputs, outputs }: Job): Pick<Waiting, 'likeness' | 'rows'> {
    const rows = this.#rows > 1 ? rowsOf(inputs) : undefined;
    if (rows === undefined || rows === 0) return { likeness: undefined, rows: rows ?? 1 };
    return { likeness: likenessOf(inputs, outputs), rows };
  }

  /** After the sockets that are ready now were read: what they brought runs together. */
  #start(): void {
    this.#running = true;
    setImmediate(() => void this.#runAll());
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#next();
      if (batch.length > 0) await this.#run(batch);
    }
    this.#running = false;
  }

  /** The request that has waited longest, and all that may run with it. */
  #next(): Waiting[] {
    for (const one of this.#waiting) if (one.gone()) one.reject(new Error('the client has left'));
    const [first, ...others] = this.#waiting.filter((one) => !one.gone());
    this.#waiting = [];
    if (!first) return [];
    const batch = [first];
    let rows = first.rows;
    for (const one of others) {
      const along = first.likeness !== undefined && one.likeness === first.likeness && rows + one.rows <= this.#rows;
      if (along) rows += one.rows;
      (along ? batch : this.#waiting).push(one);
    }
    return batch;
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#together(batch);
      if (results) batch.forEach((one, index) => one.resolve(results[index] as Tensor[]));
      else for (const one of batch) await this.#run([one]);
    } catch (error) {
      // One request may be at fault for all: each gets its own chance.
      if (batch.length > 1) for (const one of batch) await this.#run([one]);
      else batch[0]?.reject(asError(error));
    }
  }

  /** One run for all; undefined when the rows cannot be told apart afterwards. */
  async #together(batch: readonly Waiting[]): Promise<Tensor[][] | undefined> {
    const [first] = batch as readonly [Waiting];
    const began = this.#options.now();
    const rows = batch.map((one) => one.rows);
    const inputs = first.inputs.map((_, index) => joined(batch.map((one) => one.inputs[index] as Tensor)));
    const outputs = await this.#runner.run(inputs, first.outputs);
    const total = rows.reduce((sum, count) => sum + count, 0);
    this.#options.ran({ requests: batch.length, rows: total, ms: this.#options.now() - began });
    if (batch.length === 1) return [outputs];
    const parts = outputs.map((output) => split(output, rows));
    if (parts.every((part) => part !== undefined))
      return batch.map((_, index) => parts.map((part) => part[index] as Tensor));
    this.#rows = 1;
    this.#options.mixed();
    return undefined;
  }
}
