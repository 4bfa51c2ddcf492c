// Somebody who looks on from outside, past the proxy: every revision of the objects of some kinds in one namespace, with
// the moment at which it was heard of, on the clock of the trace. For questions about what was true all the while.

import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Client } from '../../src/kube/index.ts';
import type { Kind, KubeObject } from '../../src/objects/index.ts';
import { eventually } from './eventually.ts';

export interface Sight<T extends KubeObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: T;
  at: number;
}

export interface Witness {
  /** All that was seen of a kind, in the order of its coming. */
  of<T extends KubeObject>(kind: Kind<T>): Sight<T>[];
  /** The first sight of such an object, when it comes. */
  first<T extends KubeObject>(kind: Kind<T>, is: (object: T) => boolean, what?: string): Promise<Sight<T>>;
  /** Waits until this revision has been seen. */
  caughtUp<T extends KubeObject>(kind: Kind<T>, object: T): Promise<void>;
  stop(): void;
}

/** A watch of a kind whose definition changed may fall silent instead of ending. */
const short = { timeoutSeconds: '5', allowWatchBookmarks: 'true' };

/** What is over soon, as when the definition of a kind changes. History that is gone is not. */
async function passing(error: unknown): Promise<void> {
  if (!(error instanceof ApiError) || (error.status !== 429 && error.status < 500)) throw error;
  await pause(200);
}

/** Looks on from now. A watch that the server ends goes on where it was. */
export async function startWitness(client: Client, namespace: string, kinds: readonly Kind[]): Promise<Witness> {
  const sights = new Map<Kind, Sight<KubeObject>[]>(kinds.map((kind) => [kind, []]));
  const gaps: unknown[] = [];
  const leaving = new AbortController();
  const of = <T extends KubeObject>(kind: Kind<T>): Sight<T>[] => {
    if (gaps.length > 0) throw new Error(`something in ${namespace} was not seen`, { cause: gaps[0] });
    return (sights.get(kind) ?? []) as Sight<T>[];
  };
  const follow = async (kind: Kind, from: string): Promise<void> => {
    let version = from;
    const onLine = (line: string) => {
      const event = JSON.parse(line) as Omit<Sight<KubeObject>, 'at'> | { type: 'BOOKMARK'; object: KubeObject };
      version = event.object.metadata.resourceVersion ?? version;
      if (event.type !== 'BOOKMARK') sights.get(kind)?.push({ ...event, at: performance.now() });
    };
    const { signal } = leaving;
    const query = () => ({ ...short, resourceVersion: version });
    while (!signal.aborted) await client.watch(kind, namespace, query(), { onLine }, { signal }).catch(passing);
  };
  for (const kind of kinds) {
    // A new kind is served a moment after its CRD says so.
    const { resourceVersion } = await eventually(() => client.list(kind, namespace, {}), {
      what: `${kind.kind} is served`,
    });
    follow(kind, resourceVersion).catch((error: unknown) => leaving.signal.aborted || gaps.push(error));
  }
  return {
    of,
    first: <T extends KubeObject>(kind: Kind<T>, is: (object: T) => boolean, what = `such a ${kind.kind}`) =>
      eventually(() => of(kind).find(({ object }) => is(object)), { within: 60_000, every: 20, what }),
    async caughtUp(kind, { metadata: { uid, resourceVersion } }) {
      const is = ({ object: { metadata } }: Sight<KubeObject>) =>
        metadata.uid === uid && Number(metadata.resourceVersion) >= Number(resourceVersion);
      await eventually(() => of(kind).some(is), { every: 20, what: `the witness sees ${kind.kind}` });
    },
    stop: () => leaving.abort(),
  };
}
