// An operator that cannot start as it should says what is missing and what to do, keeps the rest running, and goes on by
// itself once somebody has mended it. Looked at from outside: log, /readyz and metric.

import { equal, match, ok } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { conditionOf } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import type { RunningOperator } from '../kit/process.ts';
import { must, ready, type Rig, startRig } from '../kit/rig.ts';
import { OldTrio, Trio } from '../kit/trio/schema.ts';

const deploy = fileURLToPath(new URL('../kit/trio/deploy', import.meta.url));
let rig: Rig;
before(async () => {
  rig = await startRig();
});
after(() => rig.stop());

const trio = (namespace: string, name: string, spec: object = {}) =>
  rig.apply(Trio, { metadata: { namespace, name }, spec: { text: 'hello', withJob: false, ...spec } });

/** The problem shows in all three places, in the same words. */
async function complains(operator: RunningOperator, words: RegExp): Promise<void> {
  await eventually(async () => words.test((await operator.probe('/readyz')).text), { what: `/readyz says ${words}` });
  equal((await operator.probe('/readyz')).status, 503);
  equal((await operator.probe('/livez')).status, 200, 'it stays alive');
  match(operator.log(), words);
  ok((await operator.metric('baton_problem')) > 0);
}

async function recovers(operator: RunningOperator): Promise<void> {
  await eventually(async () => (await operator.probe('/readyz')).status === 200, { what: '/readyz is well again' });
  equal(await operator.metric('baton_problem'), 0);
  match(operator.log(), /a problem is solved/);
}

test('a broken kubeconfig is named with its field, and read again', async () => {
  const path = join(rig.plane.folder, 'broken.kubeconfig');
  const good = readFileSync(join(rig.plane.folder, 'operator.kubeconfig'), 'utf8');
  writeFileSync(path, good.replace(/current-context: .*/, 'current-context: nowhere'));
  const operator = await rig.operator({ kubeconfig: path });
  await complains(operator, /nowhere/);
  writeFileSync(path, good);
  await recovers(operator);
  await operator.kill();
});

test('an unreachable API server is named, and found when it is there', async () => {
  await rig.plane.killApiServer();
  const operator = await rig.operator();
  await complains(operator, /API server/);
  await rig.plane.startApiServer();
  await recovers(operator);
  await operator.kill();
});

test('pitfall 13: a missing permission is named; what it concerns waits, and goes on when it is given', async () => {
  const namespace = await rig.namespace();
  const role = join(deploy, 'rbac', 'trio.clusterrole.yaml');
  await must(rig.plane, ['apply', '-f', '-'], readFileSync(role, 'utf8').replace(/- deployments/, '- daemonsets'));
  const operator = await rig.operator();
  await complains(operator, /may not create deployments\.apps in all namespaces/);
  await trio(namespace, 'waits');
  await must(rig.plane, ['apply', '-f', role]);
  await ready(rig, namespace, 'waits');
  await recovers(operator);
  await operator.kill();
});

test('a permission that is lost while the operator runs is named in the status and in the probe', async () => {
  const namespace = await rig.namespace();
  const role = readFileSync(join(deploy, 'rbac', 'trio.clusterrole.yaml'), 'utf8');
  const operator = await rig.operator();
  await trio(namespace, 'first');
  await ready(rig, namespace, 'first');
  await must(rig.plane, ['apply', '-f', '-'], role.replace(/- deployments/, '- daemonsets'));
  await trio(namespace, 'second');
  await eventually(
    async () =>
      conditionOf((await rig.get(Trio, namespace, 'second'))?.status, 'Stalled')?.reason === 'MissingPermission',
  );
  await complains(operator, /may not .*deployments\.apps/);
  await must(rig.plane, ['apply', '-f', '-'], role);
  await ready(rig, namespace, 'second');
  await recovers(operator);
  await operator.kill();
});

test('pitfall 13: a missing CRD is named; one that appears later is noticed, one that goes is waited for', async () => {
  const namespace = await rig.namespace();
  const crd = join(deploy, 'crds', 'trios.test.baton.dev.yaml');
  await must(rig.plane, ['delete', '--timeout=60s', '-f', crd]);
  const operator = await rig.operator();
  await complains(operator, /trios\.test\.baton\.dev is not served by the API server: install its CRD/);
  await must(rig.plane, ['apply', '-f', crd]);
  await must(rig.plane, ['wait', '--for=condition=Established', '--timeout=30s', '-f', crd]);
  await recovers(operator);
  await eventually(() => trio(namespace, 'late'), { what: 'the new CRD takes objects' });
  await ready(rig, namespace, 'late');
  await must(rig.plane, ['delete', '--timeout=60s', '-f', crd]);
  await complains(operator, /trios\.test\.baton\.dev is not served/);
  await must(rig.plane, ['apply', '-f', crd]);
  await recovers(operator);
  await operator.kill();
});

test('a kind that is missing holds up its own controller only: the other one works', async () => {
  const namespace = await rig.namespace();
  const role = JSON.stringify([
    {
      op: 'add',
      path: '/rules/-',
      value: {
        apiGroups: ['absent.test.baton.dev'],
        resources: ['absents', 'absents/status', 'absents/finalizers'],
        verbs: ['get', 'list', 'watch', 'patch', 'update'],
      },
    },
  ]);
  await must(rig.plane, ['patch', 'clusterrole', 'trio', '--type=json', '-p', role]);
  const operator = await rig.operator({ controller: 'beside' });
  await complains(operator, /absents\.absent\.test\.baton\.dev is not served/);
  await trio(namespace, 'beside');
  await ready(rig, namespace, 'beside');
  await complains(operator, /absents\.absent\.test\.baton\.dev is not served/);
  await operator.kill();
});

test('the alias of a kind may be absent: the kind itself is served', async () => {
  const namespace = await rig.namespace();
  const crd = join(deploy, 'crds', 'oldtrios.old.test.baton.dev.yaml');
  await must(rig.plane, ['delete', '--timeout=60s', '-f', crd]);
  const operator = await rig.operator();
  await trio(namespace, 'alone');
  await ready(rig, namespace, 'alone');
  equal((await operator.probe('/readyz')).status, 200);
  await must(rig.plane, ['apply', '-f', crd]);
  await eventually(() =>
    rig.apply(OldTrio, { metadata: { namespace, name: 'old' }, spec: { text: 'x', withJob: false } }),
  );
  await eventually(async () => (await rig.get(OldTrio, namespace, 'old'))?.status?.phase === 'Ready', {
    what: 'the alias is noticed',
  });
  await operator.kill();
});
