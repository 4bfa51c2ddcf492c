// `make install`, `uninstall`, `deploy`, `undeploy`, `samples` and `build-installer`: what they do to a cluster, with our own
// client. A cluster is acted on only if it was named; whatever kubectl used last is never taken.

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { systemClock } from '../../src/base/index.ts';
import { Client, loadKubeconfig } from '../../src/kube/index.ts';
import { productKinds } from '../product.ts';
import { applyAll, deleteAll, ifThere, running } from './cluster.ts';
import { deployedObjects, without } from './deployed.ts';
import { installerOf, kindObjects, operatorObjects } from './objects.ts';
import { deployment } from './operator.ts';
import type { Manifest } from './place.ts';

const root = join(import.meta.dirname, '../..');
const say = (line: string) => void process.stdout.write(`${line}\n`);

interface Order {
  context: string;
  image: string;
  namespaces: readonly string[];
  namespace: string;
  models: string;
}

/** What cannot be done as it was asked for, in words for the person who asked. */
class Unclear extends Error {}

/** What each verb does; all but one do it to the cluster of a context. */
const verbs: Record<string, (order: Order) => Promise<void>> = {
  async install({ context }) {
    await withCluster('install', context, async (client) => {
      say(`The kinds, their policy and roles for people, in ${context}:`);
      await applyAll(client, kindObjects(), say);
    });
  },
  async uninstall({ context, models }) {
    await withCluster('uninstall', context, async (client) => {
      if (models !== 'delete') await refuseWhileUsed(client, context);
      await refuseWhileDeployed(client, context);
      say(`Removed from ${context}:`);
      await deleteAll(client, kindObjects(), say);
    });
  },
  async deploy({ context, ...choices }) {
    await withCluster('deploy', context, async (client) => {
      required('deploy', choices.image);
      const former = await deployedObjects(client);
      const objects = operatorObjects(choices);
      say(`The kinds and the operator ${choices.image}, in ${context}:`);
      await applyAll(client, [...kindObjects(), ...objects], say);
      await running(client, deployment(choices), say);
      say('The operator is running.');
      const rest = without(former, objects);
      if (rest.length > 0) say('Removed, as it is not needed any more:');
      if (rest.length > 0) await deleteAll(client, rest, say);
    });
  },
  async undeploy({ context, namespaces }) {
    await withCluster('undeploy', context, async (client) => {
      const former = await deployedObjects(client);
      const named = operatorObjects({ image: '', namespaces });
      say(`Removed from ${context}; the kinds stay, and models go on serving:`);
      await deleteAll(client, [...without(named, former), ...former], say);
    });
  },
  async samples({ context, namespace }) {
    await withCluster('samples', context, async (client) => {
      await refuseWithoutKinds(client, context);
      say(`The samples, in namespace ${namespace} of ${context}:`);
      await applyAll(client, samplesIn(namespace), say);
    });
  },
  async 'build-installer'(order) {
    required('build-installer', order.image);
    const path = join(root, 'dist/install.yaml');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, installerOf(order));
    say(`Wrote dist/install.yaml: kubectl apply -f dist/install.yaml`);
  },
};

/** Works on the cluster of a context, which must have been named. */
async function withCluster(verb: string, context: string, work: (client: Client) => Promise<void>): Promise<void> {
  if (context === '')
    throw new Unclear(
      `make ${verb} changes a cluster, so it must be told which: ${usageOf(verb)}\n(kubectl config get-contexts lists the names)`,
    );
  const paths = process.env['KUBECONFIG'] || join(homedir(), '.kube/config');
  const cluster = loadKubeconfig(paths, { context, env: process.env });
  const client = new Client({ cluster, clock: systemClock, userAgent: 'baton-install' });
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

function required(verb: string, image: string): void {
  if (image === '') throw new Unclear(`make ${verb} needs the operator's image: ${usageOf(verb)}`);
}

/** All that a target must be told. */
function usageOf(verb: string): string {
  const [context, image] = ['CONTEXT=name', 'IMG=name:tag'];
  const words: Record<string, string[]> = { deploy: [context, image], 'build-installer': [image] };
  return ['make', verb, ...(words[verb] ?? [context])].join(' ');
}

/** The namespace of the operator goes with the kinds; its rights in the cluster would stay. */
async function refuseWhileDeployed(client: Client, context: string): Promise<void> {
  if ((await deployedObjects(client)).length > 0)
    throw new Unclear(`The operator still runs in ${context}: first make undeploy CONTEXT=${context}`);
}

async function refuseWithoutKinds(client: Client, context: string): Promise<void> {
  for (const kind of productKinds)
    if ((await ifThere(client.list(kind, undefined, { limit: '1' }))) === undefined)
      throw new Unclear(`${context} does not have the kind ${kind.kind} yet: first make install CONTEXT=${context}`);
}

/** Deleting a kind deletes its objects, and with them what they serve. */
async function refuseWhileUsed(client: Client, context: string): Promise<void> {
  for (const kind of productKinds) {
    const { items = [] } = (await ifThere(client.list(kind, undefined, { limit: '500' }))) ?? {};
    const names = items.slice(0, 5).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    if (names.length > 0)
      throw new Unclear(
        `${context} has ${items.length} objects of ${kind.kind} (${names.join(', ')}${items.length > 5 ? ', ...' : ''}), which would be deleted with everything they serve.\nDelete them yourself, or say make uninstall CONTEXT=${context} MODELS=delete`,
      );
  }
}

const samplesIn = (namespace: string): Manifest[] =>
  globSync('examples/*.yaml', { cwd: root })
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => parse(readFileSync(join(root, path), 'utf8')) as Manifest)
    .map((sample) => ({ ...sample, metadata: { ...sample.metadata, namespace } }));

function orderFrom(args: string[]): { verb: string; order: Order } {
  const text = { type: 'string' as const, default: '' };
  const options = {
    context: text,
    image: text,
    namespaces: text,
    models: text,
    namespace: { ...text, default: 'default' },
  };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const namespaces = values.namespaces.split(',').filter((name) => name !== '');
  return { verb: positionals[0] ?? '', order: { ...values, namespaces } };
}

try {
  const { verb, order } = orderFrom(process.argv.slice(2));
  const act = verbs[verb];
  if (!act) throw new Unclear(`"${verb}" is none of ${Object.keys(verbs).join(', ')}`);
  await act(order);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof Unclear ? 2 : 1;
}
