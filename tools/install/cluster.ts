// Brings objects into a cluster and out again, by our own client: whoever has a kubeconfig needs no other tool.

import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Client } from '../../src/kube/index.ts';
import { clusterKindOf, type Kind, kindOf, type KubeObject } from '../../src/objects/index.ts';
import type { Manifest } from './place.ts';

/** The field manager of everything that is installed. */
const manager = 'baton-install';

/** The kind of an object as the API server calls it; our manifests name a namespace wherever there is one. */
export function kindFor({ apiVersion, kind, metadata }: KubeObject): Kind {
  const plural = kind.toLowerCase().replace(/y$/, 'ie');
  return (metadata.namespace === undefined ? clusterKindOf : kindOf)(apiVersion, kind, `${plural}s`);
}

/** `Namespace baton-system`, for people. */
export const titleOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

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
  for (const object of objects.toReversed()) {
    const { name, namespace } = object.metadata;
    const gone = await client.delete(kindFor(object), { name, ...(namespace !== undefined && { namespace }) }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return false;
        throw error;
      },
    );
    if (gone) say(`  ${titleOf(object)}`);
  }
}

/** How long a cluster may take to serve a new kind, or to roll out the operator. */
const patience = 120_000;

type Conditioned = KubeObject & {
  status?: { conditions?: { type: string; status: string; message?: string }[]; observedGeneration?: number };
};

/** Waits until a condition holds, and says what was true instead when it does not. */
async function holds(client: Client, object: Manifest, type: string): Promise<void> {
  const end = performance.now() + patience;
  let last = 'it has no such condition';
  while (performance.now() < end) {
    const { name, namespace } = object.metadata;
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    const { status } = await client.get<Conditioned>(kindFor(object), ref);
    const found = status?.conditions?.find((condition) => condition.type === type);
    if (found?.status === 'True') return;
    last = found?.message ?? last;
    await pause(250);
  }
  throw new Error(`${titleOf(object)} is not ${type} after ${patience / 1_000} s: ${last}`);
}

const established = (client: Client, crd: Manifest): Promise<void> => holds(client, crd, 'Established');

/** Waits until the operator's Deployment has a pod that is ready. */
export const available = (client: Client, deployment: Manifest): Promise<void> =>
  holds(client, deployment, 'Available');
