// The truth about one namespace, told by watches of the test's own that go past the proxy: every revision of every
// object, in the order of the resourceVersions.

import type { Client } from '../../src/kube/index.ts';
import { isOfKind, type Kind, type KubeObject } from '../../src/objects/index.ts';
import { eventually } from './eventually.ts';
import type { Revision, World } from './subject.ts';

export interface Truth extends World {
  /** All revisions so far, in the order of their resourceVersions. */
  history(): Revision[];
  /** What exists now. */
  objects(): KubeObject[];
  stop(): void;
}

/**
 * Whether a history may have a gap. `refused`: every question fails after one. `bridged`: an API server that goes away takes
 * the watches with it; what changed meanwhile is then told from a new list.
 */
export type Gaps = 'refused' | 'bridged';

interface Memory {
  revisions: Revision[];
  existing: Map<string, KubeObject>;
  broken: unknown[];
}

/** Follows the objects of these kinds in a namespace, from now on. */
export async function watchTruth(
  client: Client,
  namespace: string,
  { told, gaps }: { told: readonly Kind[]; gaps: Gaps },
): Promise<Truth> {
  const memory: Memory = { revisions: [], existing: new Map(), broken: [] };
  const leaving = new AbortController();
  const follow = async (kind: Kind): Promise<void> => {
    // A new kind is served a moment after its CRD says so.
    const page = await eventually(() => client.list(kind, namespace, {}), { what: `${kind.kind} is served` });
    for (const news of newsOf(kind, page, memory)) take(news, memory);
    const query = { resourceVersion: page.resourceVersion, timeoutSeconds: '900' };
    const onLine = (line: string) => take(JSON.parse(line) as Omit<Revision, 'at'>, memory);
    void client
      .watch(kind, namespace, query, { onLine }, { signal: leaving.signal })
      .then(() => new Error(`the watch of ${kind.kind} ended`))
      .catch((error: unknown) => error)
      .then((end) => (leaving.signal.aborted ? undefined : gaps === 'bridged' ? follow(kind) : Promise.reject(end)))
      .catch((error: unknown) => void memory.broken.push(error));
  };
  await Promise.all(told.map(follow));
  return questions(
    memory,
    () => {
      if (memory.broken.length > 0)
        throw new Error(`the history of ${namespace} has a gap`, { cause: memory.broken[0] });
    },
    leaving,
  );
}

function questions(memory: Memory, check: () => void, leaving: AbortController): Truth {
  const { revisions, existing } = memory;
  const whole = <T>(answer: T): T => {
    check();
    return answer;
  };
  return {
    ...worldOf(existing),
    history: () => whole(revisions.toSorted((a, b) => versionOf(a.object) - versionOf(b.object))),
    objects: () => whole([...existing.values()]),
    get: (kind, name) => whole(worldOf(existing).get(kind, name)),
    all: (kind) => whole(worldOf(existing).all(kind)),
    stop: () => leaving.abort(),
  };
}

function take({ type, object }: Omit<Revision, 'at'>, { revisions, existing }: Memory): void {
  if (object.metadata.name === 'kube-root-ca.crt') return; // every namespace gets it from somebody else
  revisions.push({ type, object, at: performance.now() });
  if (type === 'DELETED') existing.delete(idOf(object));
  else existing.set(idOf(object), object);
}

/** What a list tells that was not known. */
function newsOf(
  kind: Kind,
  { items, resourceVersion }: { items: readonly KubeObject[]; resourceVersion: string },
  { existing }: Memory,
): Omit<Revision, 'at'>[] {
  const listed = new Map(items.map((item) => [idOf(item), item]));
  const gone = (object: KubeObject) => ({
    type: 'DELETED' as const,
    object: { ...object, metadata: { ...object.metadata, resourceVersion } },
  });
  const former = [...existing.values()].filter((object) => isOfKind(object, kind));
  const went = former.filter((object) => listed.get(idOf(object))?.metadata.uid !== object.metadata.uid).map(gone);
  const came = items.flatMap((object) => {
    const before = existing.get(idOf(object))?.metadata;
    if (before?.resourceVersion === object.metadata.resourceVersion) return [];
    return [{ type: before?.uid === object.metadata.uid ? ('MODIFIED' as const) : ('ADDED' as const), object }];
  });
  return [...went, ...came];
}

/** The questions that can be asked of a world. */
export const worldOf = (existing: ReadonlyMap<string, KubeObject>): World => ({
  get: <T extends KubeObject>({ kind }: Kind<T>, name: string) => existing.get(`${kind} ${name}`) as T | undefined,
  all: <T extends KubeObject>(kind: Kind<T>) =>
    [...existing.values()].filter((object): object is T => isOfKind(object, kind)),
});

/** An object of a namespace. */
export const idOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

/** Its place in the order of all changes. */
export const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion);
