// What an earlier `make deploy` brought. Its Deployment says for which namespaces that was, so whoever changes or removes it
// need not remember them, and no right of the operator outlives it.

import type { Client } from '../../src/kube/index.ts';
import { Deployment } from '../../src/objects/index.ts';
import { ifThere } from './cluster.ts';
import { operatorObjects } from './objects.ts';
import { home, type Manifest } from './place.ts';

/** The objects of the operator that runs in a cluster; none if there is no operator. */
export async function deployedObjects(client: Client): Promise<Manifest[]> {
  const { serviceAccount: name, namespace } = home;
  const found = await ifThere(client.get(Deployment, { name, namespace }));
  return found ? operatorObjects({ image: '', namespaces: namespacesIn(found) }) : [];
}

const flag = '--namespaces=';

function namespacesIn({ spec }: Deployment): string[] {
  const args = spec.template.spec.containers.flatMap((container) => container.args ?? []);
  const given = args.find((arg) => arg.startsWith(flag))?.slice(flag.length) ?? '';
  return given.split(',').filter((name) => name !== '');
}

/** Those of some objects that are not among others. */
export const without = (objects: readonly Manifest[], others: readonly Manifest[]): Manifest[] =>
  objects.filter((object) => !others.some((other) => keyOf(other) === keyOf(object)));

const keyOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
