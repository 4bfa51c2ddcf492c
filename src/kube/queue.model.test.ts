// A random search: the queue against a naive model that looks at all keys, each time, for whatever could run next.
// The model has no heap, no timer and no memory to clean up; every start must be of the same key at the same moment.
// The promises are then checked once more on the trace alone, without the model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock, settle } from '../../tests/kit/clock.ts';
import { Queue, type Priority } from './queue.ts';

const quiet = 500;
const backoff = { first: 800, most: 6_000 };
const penalty: Record<Priority, number> = { edit: 0, change: 1_000, resync: 10_000 };

type Command =
  | { do: 'add'; key: string; priority: Priority }
  | { do: 'after'; key: string; ms: number }
  | { do: 'finish'; nth: number; again: number | undefined }
  | { do: 'fail'; nth: number; retryAfter: number }
  | { do: 'advance'; ms: number }
  | { do: 'reset' | 'forget'; key: string }
  | { do: 'pause' | 'resume' };

interface ModelKey {
  state: 'idle' | 'waiting' | 'running' | 'leaving';
  /** Waiting: when, and in which order it was put there. */
  due: number;
  priority: Priority | undefined;
  /** Set when its time has come. */
  rank: number | undefined;
  turn: number;
  served: Priority | undefined;
  marked: Priority | undefined;
  look: number;
  end: number;
  editEnd: number;
  failures: number;
  held: number;
  notBefore: number;
}

const fresh = (): ModelKey => ({
  state: 'idle',
  due: Infinity,
  priority: undefined,
  rank: undefined,
  turn: 0,
  served: undefined,
  marked: undefined,
  look: Infinity,
  end: -Infinity,
  editEnd: -Infinity,
  failures: 0,
  held: 0,
  notBefore: 0,
});

const urgent = (a: Priority | undefined, b: Priority): Priority => (a && penalty[a] < penalty[b] ? a : b);

class Model {
  now = 0;
  readonly starts: string[] = [];
  readonly keys = new Map<string, ModelKey>();
  readonly workers: number;
  paused = false;
  #turn = 0;

  constructor(workers: number) {
    this.workers = workers;
  }

  of(key: string): ModelKey {
    const known = this.keys.get(key) ?? fresh();
    this.keys.set(key, known);
    return known;
  }

  running(): [string, ModelKey][] {
    return [...this.keys].filter(([, { state }]) => state === 'running' || state === 'leaving');
  }

  add(k: ModelKey, priority: Priority): void {
    if (k.state === 'running' || k.state === 'leaving') {
      k.state = 'running';
      k.marked = urgent(k.marked, priority);
      return;
    }
    if (priority === 'edit') Object.assign(k, { failures: 0, held: 0 });
    const floor = Math.max(this.now, k.notBefore);
    const calm = Math.max(floor, k.end + quiet);
    if (priority === 'edit') this.wait(k, Math.max(floor, k.editEnd + quiet), 'edit');
    if (priority === 'change') this.wait(k, Math.max(calm, Math.min(k.held, this.now + 1_000)), 'change');
    if (priority === 'resync') this.wait(k, Math.max(calm, k.held), 'resync');
  }

  look(k: ModelKey, at: number): void {
    if (k.state === 'running' || k.state === 'leaving')
      Object.assign(k, { state: 'running', look: Math.min(k.look, at) });
    else this.wait(k, Math.max(this.now, at, k.end + quiet, k.held, k.notBefore), 'change');
  }

  wait(k: ModelKey, due: number, priority: Priority): void {
    k.priority = urgent(k.priority, priority);
    if (k.rank !== undefined) {
      const rank = Math.min(k.rank, due + penalty[priority]);
      if (rank < k.rank) Object.assign(k, { rank, turn: this.#turn++ });
    } else if (k.state === 'idle' || due < k.due) Object.assign(k, { state: 'waiting', due, turn: this.#turn++ });
    this.ripen();
  }

  /** Whatever has come of age gets its place in the line. */
  ripen(): void {
    const ripe = [...this.keys.values()]
      .filter((k) => k.state === 'waiting' && k.rank === undefined && k.due <= this.now)
      .toSorted((a, b) => a.due - b.due || a.turn - b.turn);
    for (const k of ripe) Object.assign(k, { rank: k.due + penalty[k.priority ?? 'change'], turn: this.#turn++ });
  }

  start(): void {
    while (!this.paused && this.running().length < this.workers) {
      const [next] = [...this.keys]
        .filter(([, k]) => k.rank !== undefined)
        .toSorted(([, a], [, b]) => (a.rank ?? 0) - (b.rank ?? 0) || a.turn - b.turn);
      if (!next) return;
      const [key, k] = next;
      this.starts.push(`${key}@${this.now}`);
      Object.assign(k, { state: 'running', served: k.priority, priority: undefined, rank: undefined, due: Infinity });
      Object.assign(k, { marked: undefined, look: Infinity });
    }
  }

  end(key: string, outcome: { again: number | undefined } | { retryAfter: number }): void {
    const k = this.of(key);
    if (k.state === 'leaving') return void this.keys.set(key, fresh());
    const { marked, look } = k;
    const failures = 'retryAfter' in outcome ? k.failures + 1 : 0;
    const delay = 0.75 * Math.min(backoff.most, backoff.first * 2 ** (failures - 1));
    Object.assign(k, { state: 'idle', failures, end: this.now, marked: undefined, look: Infinity });
    if (k.served === 'edit') k.editEnd = this.now;
    k.held = failures > 0 ? this.now + delay : 0;
    k.notBefore = 'retryAfter' in outcome ? this.now + outcome.retryAfter : 0;
    const next = 'retryAfter' in outcome ? k.held : this.now + (outcome.again ?? Infinity);
    if (Math.min(look, next) < Infinity) this.look(k, Math.min(look, next));
    if (marked) this.add(k, marked);
  }

  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const due = [...this.keys.values()]
        .filter((k) => k.state === 'waiting' && k.rank === undefined)
        .map((k) => k.due);
      const next = Math.min(...due);
      if (next > end) break;
      this.now = next;
      this.ripen();
      this.start();
    }
    this.now = end;
  }

  forget(key: string): void {
    const gone = fresh();
    if (['running', 'leaving'].includes(this.of(key).state)) gone.state = 'leaving';
    this.keys.set(key, gone);
  }
}

/** The queue with passes that end when a command says so. */
class Real {
  readonly clock = new FakeClock();
  readonly starts: string[] = [];
  readonly trace: { key: string; at: number; what: 'start' | 'end' | 'fail' | Priority | 'forget' }[] = [];
  readonly open = new Map<string, { resolve: (result: { again?: number }) => void; reject: (error: Error) => void }>();
  readonly queue: Queue;

  constructor(workers: number) {
    const run = (key: string) => {
      assert.ok(!this.open.has(key), `${key} runs twice at the same time`);
      this.starts.push(`${key}@${this.clock.monotonic()}`);
      this.note(key, 'start');
      return new Promise<{ again?: number }>((resolve, reject) => this.open.set(key, { resolve, reject }));
    };
    this.queue = new Queue({ clock: this.clock, random: () => 0.5, workers, quiet, backoff, run });
  }

  note(key: string, what: Real['trace'][number]['what']): void {
    this.trace.push({ key, what, at: this.clock.monotonic() });
  }

  take(key: string) {
    const pass = this.open.get(key);
    this.open.delete(key);
    assert.ok(pass, `${key} does not run`);
    return pass;
  }
}

async function play(command: Command, real: Real, model: Model): Promise<void> {
  const nth = (n: number) => [...real.open.keys()].toSorted()[n % Math.max(1, real.open.size)];
  switch (command.do) {
    case 'add':
      real.note(command.key, command.priority);
      real.queue.add(command.key, command.priority);
      model.add(model.of(command.key), command.priority);
      break;
    case 'after':
      real.queue.after(command.key, command.ms);
      model.look(model.of(command.key), model.now + command.ms);
      break;
    case 'finish':
    case 'fail': {
      const key = nth(command.nth);
      if (key === undefined) break;
      real.note(key, command.do === 'fail' ? 'fail' : 'end');
      if (command.do === 'fail') {
        real.take(key).reject(Object.assign(new Error('no luck'), { retryAfter: command.retryAfter }));
        model.end(key, { retryAfter: command.retryAfter });
      } else {
        real.take(key).resolve(command.again === undefined ? {} : { again: command.again });
        model.end(key, { again: command.again });
      }
      break;
    }
    case 'advance':
      model.start();
      model.advance(command.ms);
      await real.clock.advance(command.ms);
      break;
    case 'reset':
      real.queue.reset(command.key);
      Object.assign(model.of(command.key), { failures: 0, held: 0 });
      break;
    case 'forget':
      real.note(command.key, 'forget');
      real.queue.forget(command.key);
      model.forget(command.key);
      break;
    case 'pause':
    case 'resume':
      model.paused = command.do === 'pause';
      if (model.paused) real.queue.pause();
      else real.queue.resume();
      break;
  }
  await settle();
  model.start();
}

const keyIn = fc.constantFrom('a', 'b', 'c');
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      key: keyIn,
      priority: fc.constantFrom<Priority>('edit', 'change', 'resync'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('after' as const), key: keyIn, ms: fc.nat(15_000) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      nth: fc.nat(3),
      again: fc.option(fc.nat(3_000), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      nth: fc.nat(3),
      retryAfter: fc.oneof(fc.constant(0), fc.nat(4_000)),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.oneof(fc.nat(300), fc.nat(1_500), fc.nat(12_000)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('reset' as const, 'forget' as const), key: keyIn }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const) }) },
);

/** Ends every pass well until nothing is left to do. */
async function finishAll(real: Real): Promise<void> {
  real.queue.resume();
  for (let i = 0; i < 60 && (real.queue.size > 0 || real.queue.running > 0); i++) {
    await real.clock.advance(500);
    for (const key of real.open.keys()) {
      real.note(key, 'end');
      real.take(key).resolve({});
    }
  }
  await real.clock.advance(quiet);
}

/** Every add is followed by the start of a pass, unless the key was forgotten. */
function assertNothingLost({ trace }: Real): void {
  for (const [i, { key, what }] of trace.entries()) {
    if (what !== 'edit' && what !== 'change' && what !== 'resync') continue;
    const next = trace
      .slice(i)
      .find((later) => later.key === key && (later.what === 'start' || later.what === 'forget'));
    assert.ok(next, `${what} of ${key} is lost`);
  }
}

/** No two passes for the same key closer than the quiet time, but for an edit after a pass that served none. */
function assertQuiet({ trace }: Real): void {
  for (const [i, { key, what, at }] of trace.entries()) {
    if (what !== 'end' && what !== 'fail') continue;
    const later = trace.slice(i + 1).filter((other) => other.key === key);
    const next = later.find((other) => other.what === 'start' || other.what === 'forget');
    if (next?.what !== 'start' || next.at >= at + quiet) continue;
    const before = trace.slice(0, i).filter((other) => other.key === key);
    const start = before.findLastIndex((other) => other.what === 'start');
    const wished = [...before.slice(start), ...later.slice(0, later.indexOf(next))];
    assert.ok(
      wished.some((other) => other.what === 'edit' || other.what === 'forget'),
      `${key} ran at ${next.at}, ${next.at - at} ms after its last pass, without an edit`,
    );
  }
}

test('the queue does what the naive model does, and keeps its promises', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(command, { minLength: 60, maxLength: 120 }),
      async (workers, commands) => {
        const real = new Real(workers);
        const model = new Model(workers);
        for (const one of commands) {
          await play(one, real, model);
          assert.deepEqual(real.starts, model.starts);
          assert.ok(real.open.size <= workers);
        }
        const waiting = [...model.keys.values()].filter(({ state }) => state === 'waiting').length;
        assert.deepEqual([real.queue.size, real.queue.running], [waiting, real.open.size]);
        await finishAll(real);
        assertNothingLost(real);
        assertQuiet(real);
        assert.deepEqual([real.queue.size, real.queue.running, real.clock.timers], [0, 0, 0]);
      },
    ),
    { numRuns: 300 },
  );
});

test('pitfall 14: no key waits behind one that became ready after its head start, whatever comes in', async () => {
  const arrivals = fc.array(
    fc.record({ gap: fc.nat(400), priority: fc.constantFrom<Priority>('edit', 'change', 'resync') }),
    { minLength: 5, maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(arrivals, fc.integer({ min: 100, max: 2_000 }), async (keys, takes) => {
      const clock = new FakeClock();
      const served: number[] = [];
      const run = async (key: string) => {
        served.push(Number(key));
        await new Promise<void>((resolve) => void clock.after(takes, resolve));
      };
      const queue = new Queue({ clock, random: () => 0.5, workers: 1, run });
      const came: { at: number; priority: Priority }[] = [];
      for (const [i, { gap, priority }] of keys.entries()) {
        await clock.advance(gap);
        came.push({ at: clock.monotonic(), priority });
        queue.add(String(i), priority);
      }
      await clock.advance(keys.length * takes + 1);
      assert.equal(served.length, keys.length);
      for (const [position, key] of served.entries()) {
        const { at, priority } = came[key] ?? { at: 0, priority: 'edit' as const };
        const overtaken = served.slice(0, position).filter((other) => (came[other]?.at ?? 0) > at + penalty[priority]);
        assert.deepEqual(overtaken, [], `${key} (${priority}, ready at ${at}) was overtaken`);
      }
    }),
    { numRuns: 60 },
  );
});
