// The truth about one namespace, told by watches of the test's own that go past the proxy: every revision of every
// object, in the order of the resourceVersions. Questions about it are the oracles of the fault tests.

import { canonical } from '../../src/base/index.ts';
import { type Client } from '../../src/kube/index.ts';
import {
  annotation,
  conditionOf,
  ConfigMap,
  Deployment,
  Job,
  type Kind,
  type KubeObject,
  rolledOut,
} from '../../src/objects/index.ts';
import { eventually } from './eventually.ts';
import { REVISION, server } from './trio/manifests.ts';
import { Trio } from './trio/schema.ts';

/** One state of one object; `at` is when we heard of it, on the clock of the trace. */
export interface Revision {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: KubeObject;
  at: number;
}

export interface Truth {
  /** All revisions so far, in the order of their resourceVersions. */
  history(): Revision[];
  /** What exists now. */
  objects(): KubeObject[];
  get<T extends KubeObject>(kind: Kind<T>, name: string): T | undefined;
  stop(): void;
}

const told: readonly Kind[] = [Trio, ConfigMap, Deployment, Job];

/** Follows the Trios of a namespace and all that they own, from now on. */
export async function watchTruth(client: Client, namespace: string): Promise<Truth> {
  const revisions: Revision[] = [];
  const existing = new Map<string, KubeObject>();
  const gaps: unknown[] = [];
  const leaving = new AbortController();
  const onLine = (line: string) => {
    const event = JSON.parse(line) as Omit<Revision, 'at'>;
    if (event.object.metadata.name === 'kube-root-ca.crt') return; // every namespace gets it from somebody else
    revisions.push({ ...event, at: performance.now() });
    if (event.type === 'DELETED') existing.delete(idOf(event.object));
    else existing.set(idOf(event.object), event.object);
  };
  const follow = async (kind: Kind) => {
    // A new kind is served a moment after its CRD says so.
    const { resourceVersion } = await eventually(() => client.list(kind, namespace, {}), {
      what: `${kind.kind} is served`,
    });
    const query = { resourceVersion, timeoutSeconds: '900' };
    client
      .watch(kind, namespace, query, { onLine }, { signal: leaving.signal })
      .then(() => gaps.push(`the watch of ${kind.kind} ended`))
      .catch((error: unknown) => gaps.push(error));
  };
  await Promise.all(told.map(follow));
  const whole = <T>(answer: T): T => {
    if (gaps.length > 0) throw new Error(`the history of ${namespace} has a gap`, { cause: gaps[0] });
    return answer;
  };
  return {
    history: () => whole(revisions.toSorted((a, b) => versionOf(a.object) - versionOf(b.object))),
    objects: () => whole([...existing.values()]),
    get: <T extends KubeObject>({ kind }: Kind<T>, name: string) =>
      whole(existing.get(`${kind} ${name}`) as T | undefined),
    stop: () => leaving.abort(),
  };
}

const idOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

export const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion);

/** How often each child was made and how often it went, by whomever. */
export function births(history: readonly Revision[]): Record<string, { made: number; gone: number }> {
  const counts: Record<string, { made: number; gone: number }> = {};
  for (const { type, object } of history) {
    const count = (counts[idOf(object)] ??= { made: 0, gone: 0 });
    if (type === 'ADDED') count.made++;
    if (type === 'DELETED') count.gone++;
  }
  return counts;
}

/** Moments at which a Trio said that it is Ready and its children were not what its generation asks for. */
export function lies(history: readonly Revision[]): string[] {
  const now = new Map<string, KubeObject>();
  const found: string[] = [];
  for (const { type, object } of history) {
    if (type === 'DELETED') now.delete(idOf(object));
    else now.set(idOf(object), object);
    if (object.kind === Trio.kind && saysReady(object as Trio)) found.push(...lackOf(object as Trio, now));
  }
  return found;
}

/** Whether a Trio says that it is Ready, as its current generation asks. */
export function saysReady({ metadata, status }: Trio): boolean {
  const ready = conditionOf(status, 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation && !metadata.deletionTimestamp;
}

function lackOf(trio: Trio, now: ReadonlyMap<string, KubeObject>): string[] {
  const { name, generation, resourceVersion } = trio.metadata;
  const words: ConfigMap | undefined = now.get(`ConfigMap ${name}-config`);
  const running = now.get(`Deployment ${name}-server`) as Deployment | undefined;
  const current = running?.metadata.annotations?.[REVISION] === server(trio).metadata.annotations?.[REVISION];
  const lacks = [
    ...(words?.data?.['text'] === trio.spec.text ? [] : ['its ConfigMap is of another generation']),
    ...(current ? [] : ['its Deployment is of another generation']),
    ...(rolledOut(running) ? [] : ['its Deployment is not rolled out']),
  ];
  return lacks.map((lack) => `${name} was Ready at version ${resourceVersion}, generation ${generation}, but ${lack}`);
}

/** What exists now, without what differs from run to run: fields are masked, never whole objects. */
export function stateOf(objects: readonly KubeObject[]): Record<string, unknown> {
  const words = objects.flatMap(({ metadata }) => [metadata.uid ?? '', metadata.namespace ?? '']);
  return Object.fromEntries(objects.map((object) => [idOf(object), masked(object, [...new Set(words)])]));
}

/** Differ in every run, by their nature. */
const fleeting = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'time',
  'lastTransitionTime',
  'lastUpdateTime',
  annotation.desired, // a hash over the UID of the parent
]);

function masked(object: KubeObject, words: readonly string[]): unknown {
  const text = words.reduce((all, word) => all.replaceAll(word, 'masked'), JSON.stringify(object));
  return sorted(JSON.parse(text, (key, value: unknown) => (fleeting.has(key) ? 'masked' : value)) as KubeObject);
}

/** The server keeps the entries of the field managers in the order of their times. */
function sorted(object: KubeObject): KubeObject {
  const { managedFields = [] } = object.metadata as { managedFields?: object[] };
  const inOrder = managedFields.toSorted((a, b) => (canonical(a) < canonical(b) ? -1 : 1));
  return { ...object, metadata: { ...object.metadata, managedFields: inOrder } as KubeObject['metadata'] };
}
