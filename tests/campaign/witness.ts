// The truth about all namespaces of a campaign, told by watches of its own that go past the proxy, one a kind. Objects are
// filed under their parent, by our labels, so that many parents can live at once and each be asked about alone.

import type { Client } from '../../src/kube/index.ts';
import { type Kind, type KubeObject, label } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import type { Revision, World } from '../kit/subject.ts';
import { idOf, worldOf } from '../kit/truth.ts';

/** A parent, wherever it lives. */
export interface Key {
  namespace: string;
  name: string;
}

export interface Witness {
  /** What exists in a namespace now. */
  world(namespace: string): World;
  /** The parent and what belongs to it, now. */
  objects(key: Key): KubeObject[];
  /** What happened to a parent and to what belongs to it, since it was last forgotten. */
  history(key: Key): readonly Revision[];
  forget(key: Key): void;
  /** When something last happened to them, in monotonic milliseconds. */
  lastAt(key: Key): number;
  stop(): void;
}

const fileOf = ({ namespace, name }: Key): string => `${namespace}/${name}`;

/** Follows all objects of these kinds; the first is the parents'. */
export async function watchAll(client: Client, parents: Kind, others: readonly Kind[]): Promise<Witness> {
  const existing = new Map<string, Map<string, KubeObject>>();
  const files = new Map<string, { revisions: Revision[]; lastAt: number }>();
  const leaving = new AbortController();
  const broken: unknown[] = [];
  const fileFor = (file: string) => {
    const held = files.get(file) ?? { revisions: [], lastAt: 0 };
    files.set(file, held);
    return held;
  };
  const take = (kind: Kind, type: Revision['type'], object: KubeObject) => {
    const { namespace = '', name, labels } = object.metadata;
    const here = existing.get(namespace) ?? new Map<string, KubeObject>();
    existing.set(namespace, here);
    if (type === 'DELETED') here.delete(idOf(object));
    else here.set(idOf(object), object);
    const parent = kind === parents ? name : labels?.[label.name];
    if (parent === undefined) return;
    const file = fileFor(fileOf({ namespace, name: parent }));
    const at = performance.now();
    file.revisions.push({ type, object, at });
    file.lastAt = at;
  };
  // An API server ends the watch of somebody who is slow: it goes on behind the last word, and nothing is missed.
  const heard = async (kind: Kind, from: string): Promise<void> => {
    let resourceVersion = from;
    const onLine = (line: string) => {
      const { type, object } = JSON.parse(line) as Revision | { type: 'ERROR'; object: KubeObject };
      if (type === 'ERROR') return void broken.push(new Error(`the watch of ${kind.kind} ended`, { cause: object }));
      resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
      take(kind, type, object);
    };
    while (broken.length === 0 && !leaving.signal.aborted) {
      const query = { resourceVersion, timeoutSeconds: '7200' };
      await client.watch(kind, undefined, query, { onLine }, { signal: leaving.signal });
    }
  };
  const follow = async (kind: Kind): Promise<void> => {
    // A new kind is served a moment after its CRD says so.
    const listed = () => client.list(kind, undefined, {});
    const { items, resourceVersion } = await eventually(listed, { what: `${kind.kind} is served` });
    for (const item of items) take(kind, 'ADDED', { ...item, apiVersion: kind.apiVersion, kind: kind.kind });
    void heard(kind, resourceVersion).catch((error: unknown) => leaving.signal.aborted || broken.push(error));
  };
  await Promise.all([parents, ...others].map(follow));
  const whole = <T>(answer: T): T => {
    if (broken.length > 0) throw new Error('the witness has missed something', { cause: broken[0] });
    return answer;
  };
  const belongs = (name: string) => (object: KubeObject) =>
    object.metadata.labels?.[label.name] === name || (object.kind === parents.kind && object.metadata.name === name);
  return {
    world: (namespace) => whole(worldOf(existing.get(namespace) ?? new Map())),
    objects: ({ namespace, name }) => whole([...(existing.get(namespace)?.values() ?? [])].filter(belongs(name))),
    history: (key) => whole(fileFor(fileOf(key)).revisions),
    forget: (key) => void (fileFor(fileOf(key)).revisions = []),
    lastAt: (key) => whole(fileFor(fileOf(key)).lastAt),
    stop: () => leaving.abort(),
  };
}
