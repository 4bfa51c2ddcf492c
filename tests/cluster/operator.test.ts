// The operator as people run it: the real program with its own account and the generated roles, told by flags and a file.
// What it serves, how it ends, and that each of the samples becomes Ready with it.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { MLModel } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/index.ts';
import type { Parent } from '../../src/kube/define.ts';
import { Client, loadKubeconfig } from '../../src/kube/index.ts';
import { type Kind, type KubeObject, Lease, Namespace, Node } from '../../src/objects/index.ts';
import {
  home,
  installInto,
  type LocalOperator,
  operatorRoles,
  productKinds,
  startLocalOperator,
} from '../../tools/index.ts';
import { eventually } from '../kit/eventually.ts';
import { untilReady } from '../kit/ready.ts';
import { must } from '../kit/rig.ts';

const root = join(import.meta.dirname, '../..');
/** Samples of images by tag need a registry, and devices need KMM: image, modeldeployment and devicetemplate.test.ts have them. */
const needing = ['-oci.yaml', 'modeldeployment.yaml', 'devicetemplate.yaml', 'devicetemplate-driver.yaml'];
const samples = globSync('examples/*.yaml', { cwd: root })
  .filter((path) => !needing.some((end) => path.endsWith(end)))
  .map((path) => ({ path, sample: parse(readFileSync(join(root, path), 'utf8')) as Parent }));
const countOf = ({ kind }: Kind) => samples.filter(({ sample }) => sample.kind === kind).length;
const kinds: readonly Kind<Parent>[] = productKinds.filter((kind) => countOf(kind) > 0);
let plane: ControlPlane;
let admin: Client;
before(async () => {
  plane = await startControlPlane({ nodes: 1 });
  admin = new Client({ cluster: loadKubeconfig(plane.kubeconfigPath), clock: systemClock, userAgent: 'test' });
  await installInto(admin);
  const gpu = { 'nvidia.com/gpu': '8' };
  const status = JSON.stringify({ status: { capacity: gpu, allocatable: gpu } });
  const { items } = await admin.list(Node, undefined, {});
  for (const { metadata } of items)
    await must(plane, ['patch', 'node', metadata.name, '--subresource=status', '--type=merge', '-p', status]);
});
after(async () => {
  await admin.close();
  await plane.stop();
});

/** Log lines as a machine reads them. */
const lines = (operator: LocalOperator) =>
  operator
    .log()
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { message: string; level: string; port?: number });

async function probe(operator: LocalOperator, path: string): Promise<{ status: number; text: string }> {
  const { port } = await eventually(() => lines(operator).find(({ message }) => message === 'started'));
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5_000) });
  return { status: answer.status, text: await answer.text() };
}

const kindOf = ({ kind }: { kind: string }) => kinds.find((one) => one.kind === kind) ?? MLModel;

const apply = (sample: KubeObject, namespace: string) =>
  admin.apply(kindOf(sample), { ...sample, metadata: { ...sample.metadata, namespace } }, { manager: 'user' });

const ready = (namespace: string, sample: KubeObject) =>
  untilReady(() => admin.get(kindOf(sample), { namespace, name: sample.metadata.name }));

const namespaceOf = (name: string) =>
  admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { manager: 'test' });

describe('a running operator', () => {
  let operator: LocalOperator;
  before(async () => {
    operator = await startLocalOperator(plane, ['--log-format=json'], 'first');
  });
  after(() => operator.stop());

  for (const { path, sample } of samples)
    test(`${path} becomes Ready`, async () => {
      await apply(sample, 'default');
      const { status } = await ready('default', sample);
      equal(status?.phase, 'Ready');
    });

  test('is ready, and counts objects, phases and the time to Ready', async () => {
    equal((await probe(operator, '/readyz')).status, 200);
    const { text } = await probe(operator, '/metrics');
    for (const kind of kinds) {
      const count = countOf(kind);
      match(text, new RegExp(`^baton_objects\\{kind="${kind.kind}",phase="Ready"\\} ${count}$`, 'm'));
      match(text, new RegExp(`^baton_time_to_ready_seconds_count\\{kind="${kind.kind}"\\} ${count}$`, 'm'));
    }
    match(text, /^baton_leader 1$/m);
    for (const name of [
      'baton_passes_total',
      'baton_queue_ready',
      'baton_watch_age_seconds',
      'baton_api_requests_total',
    ])
      match(text, new RegExp(`^${name}\\{`, 'm'));
  });

  test('holds the lease in its own namespace, under the name of the settings', async () => {
    const lease = await admin.get(Lease, { namespace: home.namespace, name: 'baton' });
    ok(lease.spec?.holderIdentity);
  });

  test('logs lines that a machine can parse', () =>
    ok(lines(operator).every(({ message, level }) => message && level)));

  test('ends in order at SIGTERM, and gives the lease back', async () => {
    await operator.stop();
    equal(operator.ending(), 'ended with code 0');
    const lease = await admin.get(Lease, { namespace: home.namespace, name: 'baton' });
    equal(lease.spec?.holderIdentity ?? '', '');
  });
});

test('an operator with Roles only works in its namespaces, by a file, with the lease in the first', async () => {
  for (const name of ['one', 'two', 'other']) await namespaceOf(name);
  await must(plane, ['delete', 'clusterrolebinding', home.serviceAccount]);
  const roles = operatorRoles(['one', 'two']);
  await must(plane, ['apply', '-f', '-'], roles.map((role) => stringify(role)).join('---\n'));
  const file = join(plane.folder, 'roles-only.yaml');
  writeFileSync(file, 'namespaces: [one, two]\nlogFormat: json\n');
  const operator = await startLocalOperator(plane, [`--config=${file}`], 'roles-only');
  const model = parse(readFileSync(join(root, 'examples/mlmodel.yaml'), 'utf8')) as MLModel;
  for (const name of ['one', 'two', 'other']) await apply(model, name);
  await Promise.all(['one', 'two'].map((name) => ready(name, model)));
  const { status } = await admin.get(MLModel, { namespace: 'other', name: model.metadata.name });
  equal(status, undefined);
  ok((await admin.get(Lease, { namespace: 'one', name: 'baton' })).spec?.holderIdentity);
  equal((await probe(operator, '/readyz')).status, 200);
  await operator.stop();
});

describe('an operator that cannot start', () => {
  const run = (...args: string[]): Promise<{ code: number; stderr: string; stdout: string }> =>
    new Promise((resolve) => {
      const env = { PATH: process.env['PATH'], HOME: '/nonexistent' };
      const options = { env, timeout: 20_000 };
      execFile(process.execPath, [join(root, 'src/operator/main.ts'), ...args], options, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
      );
    });

  test('says what is wrong with its settings, with exit code 2', async () => {
    const { code, stderr } = await run('--worker=3');
    equal(code, 2);
    match(stderr, /--worker is no flag; did you mean --workers\?/);
  });

  test('takes no cluster that was not named', async () => {
    const { code, stderr } = await run();
    equal(code, 2);
    match(stderr, /no cluster is named/);
  });

  test('tells its settings when asked', async () => {
    const { code, stdout } = await run('--help');
    deepEqual([code, /--parent-selector=SELECTOR/.test(stdout)], [0, true]);
  });
});
