// Brings objects into a cluster and out again, by our own client: whoever has a kubeconfig needs no other tool.

import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Client } from '../../src/kube/index.ts';
import {
  causeOfPods,
  clusterKindOf,
  type Condition,
  conditionOf,
  Deployment,
  type Kind,
  kindOf,
  type KubeObject,
  Pod,
  rolledOut,
} from '../../src/objects/index.ts';
import { labels, type Manifest } from './place.ts';

type Conditions = { conditions?: Condition[] };

/** The field manager of everything that is installed. */
const manager = 'baton-install';

/** The kind of an object as the API server calls it; our manifests name a namespace wherever there is one. */
export function kindFor({ apiVersion, kind, metadata }: KubeObject): Kind {
  const plural = kind.toLowerCase().replace(/y$/, 'ie');
  return (metadata.namespace === undefined ? clusterKindOf : kindOf)(apiVersion, kind, `${plural}s`);
}

/** `Namespace baton-system` or `Deployment baton-system/baton`, for people. */
const titleOf = ({ kind, metadata: { name, namespace } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

/** Creates or updates all of them, in this order, and waits until new kinds are served. */
export async function applyAll(
  client: Client,
  objects: readonly Manifest[],
  say: (line: string) => void,
): Promise<void> {
  for (const object of objects) {
    await client.apply(kindFor(object), object, { manager });
    say(`  ${titleOf(object)}`);
  }
  for (const object of objects.filter(({ kind }) => kind === 'CustomResourceDefinition'))
    await established(client, object);
}

/** Deletes them, the last one first; what is not there is no trouble. */
export async function deleteAll(
  client: Client,
  objects: readonly Manifest[],
  say: (line: string) => void,
): Promise<void> {
  let gone = 0;
  for (const object of objects.toReversed()) {
    const there = client.delete(kindFor(object), placeOf(object)).then(() => true);
    if (!(await ifThere(there))) continue;
    gone += 1;
    say(`  ${titleOf(object)}`);
  }
  if (gone === 0) say('  nothing: none of it was there');
}

/** The answer to a request about something, or undefined where it does not exist. */
export const ifThere = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });

const placeOf = ({ metadata: { name, namespace } }: Manifest): { name: string; namespace?: string } => ({
  name,
  ...(namespace !== undefined && { namespace }),
});

/** How long a cluster may take to serve a new kind, or to roll out the operator. */
const patience = 120_000;

/** Waits until it is so; `look` says what is in the way, or nothing once it is so. */
async function until(what: string, look: () => Promise<string | undefined>): Promise<void> {
  const end = performance.now() + patience;
  for (;;) {
    const why = await look();
    if (why === undefined) return;
    if (performance.now() > end) throw new Error(`${what} after ${patience / 1_000} s: ${why}`);
    await pause(250);
  }
}

const established = (client: Client, crd: Manifest): Promise<void> =>
  until(`${titleOf(crd)} is not served`, async () => {
    const { status } = await client.get<KubeObject & { status?: Conditions }>(kindFor(crd), placeOf(crd));
    const condition = conditionOf(status, 'Established');
    return condition?.status === 'True' ? undefined : (condition?.message ?? 'nobody has looked at it yet');
  });

/** Waits until all pods of a Deployment are the new ones and ready, and says meanwhile what keeps them from it. */
export async function running(client: Client, { metadata }: Manifest, say: (line: string) => void): Promise<void> {
  const { name, namespace = '' } = metadata;
  let told = '';
  await until(`Deployment ${name} is not rolled out`, async () => {
    if (rolledOut(await client.get(Deployment, { name, namespace }))) return undefined;
    const { items } = await client.list(Pod, namespace, { labelSelector: selector });
    const why = causeOfPods(items)?.message ?? 'its pods are starting';
    if (why !== told) say(`  ... ${(told = why)}`);
    return why;
  });
}

const selector = Object.entries(labels)
  .map(([name, value]) => `${name}=${value}`)
  .join(',');
