// The model that is served, wherever it runs. A short run is done at once, on the thread that also serves: that is fastest.
// A model whose runs turn out long moves into a thread of its own, so that probes and other requests are always answered.

import { statSync } from 'node:fs';
import { type Log, wordsOf } from '../../../base/index.ts';
import type { Signature } from '../protocol/signature.ts';
import type { Tensor } from '../protocol/types.ts';
import { findModel } from './find.ts';
import { type Loaded, loadModel, type Runner } from './session.ts';
import { loadInThread } from './thread.ts';
import { warm } from './warm.ts';

export interface EngineOptions {
  /** The folder or the file. */
  model: string;
  threads: number;
  /** The program to start once more as a thread. */
  program: string;
  now: () => number;
  log: Log;
  /** The thread is gone, and the model with it. */
  lost: (error: Error) => void;
}

/** A file of this size is loaded in a thread at once: its runs are long, and it should not be loaded twice. */
const largeFile = 64 * 1024 ** 2;
/** Milliseconds of a mean run above which runs are long. One run counts for at most so much: a machine may be busy once. */
const longRun = 25;
const mostOfOne = 100;

export class Engine implements Runner {
  readonly signature: Signature;
  readonly file: string;
  /** Milliseconds that loading and the first run took. */
  readonly loading: number;
  readonly #options: EngineOptions;
  #model: Loaded;
  /** Whether it runs, or will soon run, in a thread of its own. */
  #apart: boolean;
  #running: Promise<unknown> = Promise.resolve();
  #meanRun = 0;

  private constructor(options: EngineOptions, { file, model, apart, loading }: Start) {
    this.#options = options;
    this.file = file;
    this.loading = loading;
    this.signature = model.signature;
    this.#model = model;
    this.#apart = apart;
  }

  /** Finds, loads and warms the model; throws a ModelFailure if there is none to serve. */
  static async load(options: EngineOptions): Promise<Engine> {
    const { threads, now, log } = options;
    const began = now();
    const file = findModel(options.model);
    const apart = statSync(file).size >= largeFile;
    const model = apart ? await load(options, file) : await loadModel(file, threads);
    const engine = new Engine(options, { file, model, apart, loading: now() - began });
    try {
      await warm(engine, model.signature);
    } catch (error) {
      log.warn('the model does not run on zeros, so it could not be warmed', { error: wordsOf(error) });
    }
    return engine;
  }

  async run(inputs: readonly Tensor[], outputs: readonly string[]): Promise<Tensor[]> {
    const began = this.#options.now();
    const running = this.#model.run(inputs, outputs);
    this.#running = running;
    const results = await running;
    this.#took(this.#options.now() - began);
    return results;
  }

  async release(): Promise<void> {
    await this.#running.catch(() => {});
    await this.#model.release();
  }

  #took(ms: number): void {
    this.#meanRun += (Math.min(ms, mostOfOne) - this.#meanRun) / 10;
    if (!this.#apart && this.#meanRun > longRun) void this.#move();
  }

  /** Into a thread, while it goes on serving here. */
  async #move(): Promise<void> {
    const { log } = this.#options;
    this.#apart = true;
    try {
      const former = this.#model;
      this.#model = await load(this.#options, this.file);
      log.info('the model runs in a thread of its own, because its runs are long');
      await this.#running.catch(() => {});
      await former.release();
    } catch (error) {
      log.warn('the model could not move into a thread', { error: wordsOf(error) });
    }
  }
}

interface Start {
  file: string;
  model: Loaded;
  apart: boolean;
  loading: number;
}

const load = ({ program, threads, lost }: EngineOptions, file: string): Promise<Loaded> =>
  loadInThread(program, { file, threads }, lost);
