// Fills the API server once for all who are going to read it. Many workers at once, each with a parent and all that
// belongs to it; the API server is what takes the time.

import { type KubeObject, manager } from '../../src/objects/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { Trio } from '../../tests/kit/trio/schema.ts';
import { childKinds, childrenOf, parent, settledStatus } from '../objects.ts';
import { makeNamespace } from '../plane.ts';

const workers = 32;
/** Objects of one operator are spread over namespaces, but not over very many. */
const perNamespace = 500;

/** Creates so many parents with their children, and tells `say` now and then. */
export async function load(client: Client, parents: number, say: (line: string) => void): Promise<void> {
  const namespaces = Math.ceil(parents / perNamespace);
  for (let index = 0; index < namespaces; index++) await makeNamespace(client, `bench-${index}`);
  let next = 0;
  const work = async () => {
    while (next < parents) {
      const index = next++;
      if (index > 0 && index % 2_000 === 0) say(`${index} of ${parents} parents written`);
      await family(client, `bench-${index % namespaces}`, `trio-${String(index).padStart(5, '0')}`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

async function family(client: Client, namespace: string, name: string): Promise<void> {
  const asked = parent(namespace, name) as KubeObject;
  const owner = await client.create<KubeObject>(Trio, asked, { manager: 'kubectl' });
  const { apiVersion, kind } = owner;
  const told = { apiVersion, kind, metadata: { namespace, name }, status: settledStatus(name) };
  await client.apply(Trio, told, { manager: manager.status, subresource: 'status' });
  for (const child of childrenOf(owner)) await client.create(child.kind, child.object, { manager: manager.children });
}

/** Bytes of an object of each kind as the API server sends it in a watch; an object of a list is the same but for its head. */
export async function wireSizes(client: Client): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const kind of [Trio, ...childKinds]) {
    const [item] = (await client.list<KubeObject>(kind, 'bench-0', { limit: '1' })).items;
    sizes[kind.kind] = item === undefined ? 0 : JSON.stringify(item).length;
  }
  return sizes;
}
