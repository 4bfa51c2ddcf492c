// Clients that never pause and never try again, each with a request under way on its kept-alive connection at all times, and
// the model that they ask: small, in versions that tell themselves apart by their numbers.

import { deepEqual } from 'node:assert/strict';
import { eventually } from '../kit/eventually.ts';
import { askOnAndOn, inferRequest, type Question, type Seen } from '../kit/keepalive.ts';
import { matrix, oneNode } from '../kit/onnx/models.ts';

/** The versions of the model: each multiplies by a number of its own. */
export type Factor = 2 | 3 | 5;

export const factors: readonly Factor[] = [2, 3, 5];

/** The file of a version. */
export const multiplier = (factor: Factor): Buffer =>
  oneNode(
    'Mul',
    [
      { name: 'x', type: 'FP32', shape: ['batch', 4] },
      { name: 'y', type: 'FP32', shape: ['batch', 4] },
    ],
    { initializers: [matrix('factor', [1], [factor])] },
  );

/** Numbers that no other request has, and which version multiplied them. */
function numbers(asked: number, heard: (factor: number) => void): Question {
  const data = [asked, asked + 0.5, -asked, 1];
  const body = JSON.stringify({
    id: String(asked),
    inputs: [{ name: 'x', shape: [1, 4], datatype: 'FP32', data }],
  });
  return {
    request: inferRequest('/v2/models/model/infer', body),
    wrong(text) {
      const { id, outputs } = JSON.parse(text) as { id: string; outputs: { data: number[] }[] };
      const found = outputs[0]?.data ?? [];
      const factor = factors.find((one) => one === found[3]);
      const right = found.length === 4 && data.every((value, index) => found[index] === value * (factor ?? 0));
      if (id !== String(asked) || !right || factor === undefined) return `not the answer to ${body}: ${text}`;
      heard(factor);
      return undefined;
    },
  };
}

/** What one client has heard. */
interface Client {
  /** The versions that answered, in turn. */
  heard: number[];
  answered: number;
  /** When it heard last, and the longest time without an answer, in milliseconds. */
  last: number;
  longest: number;
  seen: Promise<Seen>;
}

/** Clients that ask on and on. */
export class Load {
  readonly #door: { host: string; port: number };
  readonly #clients: Client[] = [];
  #stopped = false;
  #asked = 0;
  /** Failures as they come. */
  readonly failures: string[] = [];

  constructor(door: { host: string; port: number }) {
    this.#door = door;
  }

  /** So many more of them, each on a connection of its own. */
  add(count: number): void {
    for (let made = 0; made < count; made++) this.#add();
  }

  #add(): void {
    const client = { heard: [] as number[], answered: 0, last: performance.now(), longest: 0 };
    const hear = (factor: number) => {
      const now = performance.now();
      client.longest = Math.max(client.longest, now - client.last);
      client.last = now;
      client.answered++;
      if (client.heard.at(-1) !== factor) client.heard.push(factor);
    };
    const seen = askOnAndOn({
      address: () => this.#door,
      question: () => numbers(this.#asked++ % 1_000_000, hear),
      stop: () => this.#stopped,
    });
    void seen.then(({ failures }) =>
      this.failures.push(...failures.map((one) => `${new Date().toISOString()} ${one}`)),
    );
    this.#clients.push(Object.assign(client, { seen }));
  }

  /** How many answers each client has had. */
  counts(): number[] {
    return this.#clients.map(({ answered }) => answered);
  }

  answered(): number {
    return this.counts().reduce((sum, one) => sum + one, 0);
  }

  /** Waits until every client hears this version, and no client has failed. */
  async hears(factor: Factor): Promise<void> {
    const all = () => this.#clients.every(({ heard }) => heard.at(-1) === factor);
    await eventually(() => this.failures.length > 0 || all(), { within: 90_000, what: `all clients hear ${factor}` });
    deepEqual(this.failures, []);
  }

  async stop(): Promise<{ heard: number[][]; connections: number; longest: number }> {
    this.#stopped = true;
    const all = await Promise.all(this.#clients.map(({ seen }) => seen));
    const connections = all.reduce((sum, one) => sum + one.connections, 0);
    const longest = Math.max(...this.#clients.map((client) => client.longest));
    return { heard: this.#clients.map(({ heard }) => heard), connections, longest };
  }
}

/** Whether a server has answered a question. */
export async function hasAnswered(address: string, port: number): Promise<boolean> {
  const metrics = await fetch(`http://${address}:${port}/metrics`, { signal: AbortSignal.timeout(5_000) });
  return /^baton_serve_requests_total\{[^}]*endpoint="infer"[^}]*\} [1-9]/m.test(await metrics.text());
}
