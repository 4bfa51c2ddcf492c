// One turn of one contestant on a control plane of its own: models until all are Ready, and, where that is asked, a while
// of rest, a new start among Ready models, and growth. What is done a moment after the last one is Ready counts, too.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Asked, countLines, type Line } from './audit.ts';
import type { Contestant } from './contestants.ts';
import { type Ground, startGround } from './ground.ts';
import { load, type Readiness } from './load.ts';
import { type Program, start } from './program.ts';
import { cpuOf, cpuOfAll, memoryOf, since } from './usage.ts';

/** What is done in a turn. */
export interface Course {
  models: number;
  /** So many have room on the nodes: the same for everybody. */
  room: number;
  /** Seconds of rest; none without it. */
  steady?: number;
  restart?: true;
  /** So many models in the end; no more than `models` without it. */
  grown?: number;
}

/** Models made Ready: seconds, MiB, and all that it took from the start of the program on. */
export interface Made {
  models: number;
  ready: Readiness;
  /** Processor seconds of the program, and of each component of the control plane. */
  own: number;
  components: Record<string, number>;
  peak: number;
  rss: number;
  /** Since it watches the models; what came before it asks whatever becomes of them. */
  asked: Asked;
}

/** What happened while nobody asked for anything. */
export interface Rest {
  seconds: number;
  own: number;
  components: Record<string, number>;
  asked: Asked;
}

/** A program that finds everything Ready: seconds and processor seconds until it is at rest. */
export interface Restarted {
  seconds: number;
  own: number;
  asked: Asked;
}

export interface Turn {
  made: Made;
  rest?: Rest;
  restarted?: Restarted;
  grown?: Made;
}

/** After the last model is Ready, for what is still on its way. */
const afterwards = 5_000;

/** Runs it. */
export async function runTurn(contestant: Contestant, course: Course): Promise<Turn> {
  const { models, steady, restart, grown, room } = course;
  await using ground = await startGround(room);
  await using run = await begin(contestant, ground);
  const made = await run.make(0, models);
  const turn: Turn = { made };
  if (steady !== undefined) turn.rest = await run.rest(steady);
  if (restart) turn.restarted = await run.restart();
  if (grown !== undefined) turn.grown = await run.make(models, grown);
  return turn;
}

/** A contestant at work. */
class Run implements AsyncDisposable {
  readonly #contestant: Contestant;
  readonly #ground: Ground;
  readonly #kubeconfig: string;
  readonly #before: Record<string, number>;
  readonly #lines: Line[] = [];
  #program: Program;
  #starts = 1;

  constructor(contestant: Contestant, ground: Ground, kubeconfig: string) {
    this.#contestant = contestant;
    this.#ground = ground;
    this.#kubeconfig = kubeconfig;
    this.#before = this.#components();
    this.#program = this.#start();
  }

  async make(from: number, models: number): Promise<Made> {
    const { client } = this.#ground;
    const ready = await load(client, this.#contestant.asking, from, models);
    await sleep(afterwards);
    this.#lines.push(...this.#ground.lines());
    return {
      models,
      ready,
      own: cpuOf(this.#program.pid),
      components: since(this.#before, this.#components()),
      ...memoryOf(this.#program.pid),
      asked: countLines(this.#lines),
    };
  }

  async rest(seconds: number): Promise<Rest> {
    const [components, own] = [this.#components(), cpuOf(this.#program.pid)];
    this.#ground.lines();
    await sleep(seconds * 1_000);
    return {
      seconds,
      own: cpuOf(this.#program.pid) - own,
      components: since(components, this.#components()),
      asked: countLines(this.#ground.lines()),
    };
  }

  /** Ends the program in order and starts it again. */
  async restart(): Promise<Restarted> {
    await this.#program.stop();
    this.#ground.lines();
    this.#program = this.#start();
    const busyUntil = await atRest(this.#program.pid);
    const asked = countLines(this.#ground.lines());
    const seconds = (Math.max(busyUntil, asked.last) - this.#program.began) / 1_000;
    return { seconds, own: cpuOf(this.#program.pid), asked };
  }

  /** Resolves when the program watches the models, and has nothing to do. */
  async watches(): Promise<void> {
    const isWatch = ({ verb, objectRef }: Line) => verb === 'watch' && objectRef?.resource === 'mlmodels';
    for (let waited = 0; waited < 60_000; waited += 100) {
      if (this.#ground.lines().some(isWatch)) {
        await atRest(this.#program.pid, settled);
        this.#ground.lines(); // what a start asks is no model's doing
        return;
      }
      await sleep(100);
    }
    const { name } = this.#contestant;
    throw new Error(`${name} does not watch models:\n${this.#ground.plane.logTail(this.#logName())}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program.stop();
  }

  #start(): Program {
    const { plane } = this.#ground;
    this.#starts++;
    return start(this.#contestant.command(this.#kubeconfig), plane.folder, this.#logName());
  }

  #logName(): string {
    return `measured-${this.#starts}`;
  }

  #components(): Record<string, number> {
    return cpuOfAll(this.#ground.plane.pids);
  }
}

async function begin(contestant: Contestant, ground: Ground): Promise<Run> {
  const run = new Run(contestant, ground, await ground.kubeconfig(contestant.side));
  try {
    await run.watches();
    return run;
  } catch (error) {
    await run[Symbol.asyncDispose]();
    throw error;
  }
}

const [look, quiet, settled] = [50, 3_000, 500];

/** A program works when it uses more than a tenth of a processor; gives when it last did, once it has rested for long. */
async function atRest(pid: number, forLong = quiet): Promise<number> {
  let [busyUntil, used] = [Date.now(), cpuOf(pid)];
  while (Date.now() - busyUntil < forLong) {
    await sleep(look);
    const now = cpuOf(pid);
    if (now - used > look / 10_000) busyUntil = Date.now();
    used = now;
  }
  return busyUntil;
}
