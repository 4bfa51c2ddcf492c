// Asks for models with twenty workers, as many people at once would, and sees each of them become Ready by a watch.

import { ApiError, type Client } from '../../src/kube/index.ts';
import type { Kind, KubeObject } from '../../src/objects/index.ts';
import { namespace } from './ground.ts';

/** How the models of a side are asked for. */
export interface Asking {
  kind: Kind;
  spec: (name: string) => object;
}

/** Seconds until all were Ready, and from asking to Ready for the middle one and for all but the slowest hundredth. */
export interface Readiness {
  all: number;
  p50: number;
  p99: number;
}

const workers = 20;
const longest = 1_800_000;

const nameOf = (index: number): string => `m${String(index).padStart(5, '0')}`;

type Model = KubeObject & { status?: { phase?: string } };

/** Makes the models from one number to another; resolves when all of them are Ready. */
export async function load(client: Client, asking: Asking, from: number, to: number): Promise<Readiness> {
  const asked = new Map<string, number>();
  const ready = new Map<string, number>();
  const leaving = new AbortController();
  const whole = Promise.withResolvers<void>();
  const see = ({ metadata: { name }, status }: Model) => {
    if (status?.phase !== 'Ready' || !asked.has(name) || ready.has(name)) return;
    ready.set(name, performance.now());
    if (ready.size === to - from) whole.resolve();
  };
  const late = setTimeout(
    () => whole.reject(new Error(`only ${ready.size} of ${to - from} models became Ready`)),
    longest,
  );
  try {
    const began = performance.now();
    follow(client, asking.kind, { see, signal: leaving.signal }).catch(whole.reject);
    await Promise.all([whole.promise, create(client, asking, { from, to, asked })]);
    return readiness(began, asked, ready);
  } finally {
    clearTimeout(late);
    leaving.abort();
  }
}

/** Sees every model, now and whenever it changes. A server may end a watch at any time: then all of them again. */
async function follow(
  client: Client,
  kind: Kind,
  { see, signal }: { see: (model: Model) => void; signal: AbortSignal },
): Promise<void> {
  const onLine = (line: string) => see((JSON.parse(line) as { object: Model }).object);
  while (!signal.aborted) {
    const { items, resourceVersion } = await client.list<Model>(kind, namespace, {});
    for (const item of items) see(item);
    await client.watch(kind, namespace, { resourceVersion }, { onLine }, { signal }).catch((error: unknown) => {
      if (!signal.aborted && !(error instanceof ApiError)) throw error;
    });
  }
}

type Span = { from: number; to: number; asked: Map<string, number> };

async function create(client: Client, { kind, spec }: Asking, { from, to, asked }: Span): Promise<void> {
  let next = from;
  const work = async () => {
    while (next < to) {
      const name = nameOf(next++);
      asked.set(name, performance.now());
      const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { namespace, name }, spec: spec(name) };
      await client.create<KubeObject>(kind, object, { manager: 'bench' });
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

function readiness(began: number, asked: ReadonlyMap<string, number>, ready: ReadonlyMap<string, number>): Readiness {
  const taken = [...ready].map(([name, at]) => (at - (asked.get(name) ?? at)) / 1_000).toSorted((a, b) => a - b);
  const quantile = (part: number) => taken[Math.min(taken.length - 1, Math.floor(part * taken.length))] ?? Number.NaN;
  return { all: (Math.max(...ready.values()) - began) / 1_000, p50: quantile(0.5), p99: quantile(0.99) };
}
