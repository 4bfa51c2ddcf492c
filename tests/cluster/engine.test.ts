// The engine on the real API server, with the test kind: one story a test, told from outside. Children are read as admin,
// the operator runs as its own account.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { conditionOf, ConfigMap, controllerOf, Deployment, Job, KubeEvent } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import type { RunningOperator } from '../kit/process.ts';
import { must, ready, type Rig, startRig } from '../kit/rig.ts';
import { OldTrio, Trio } from '../kit/trio/schema.ts';

let rig: Rig;
let operator: RunningOperator;

before(async () => {
  rig = await startRig();
  operator = await rig.operator();
});
after(async () => {
  const forbidden = rig.proxy.trace.requests({}).filter(({ answer }) => answer?.status === 403);
  await rig.stop();
  deepEqual(forbidden, [], 'the generated roles are enough for every story');
});

const trio = (namespace: string, name: string, spec: object = {}) =>
  rig.apply(Trio, { metadata: { namespace, name }, spec: { text: 'hello', ...spec } });

async function restart(): Promise<void> {
  await operator.kill();
  operator = await rig.operator();
}

describe('a Trio', () => {
  test('walks from apply to Ready, keeps what its Job said, and owns its children', async () => {
    const namespace = await rig.namespace();
    await trio(namespace, 'walk');
    const { status, metadata } = await ready(rig, namespace, 'walk');
    equal(status?.phase, 'Ready');
    const config = await rig.get(ConfigMap, namespace, 'walk-config');
    equal(config?.metadata.annotations?.['test.baton.dev/result'], 'done');
    equal(controllerOf(config ?? fail())?.uid, metadata.uid);
    await eventually(async () => (await rig.list(Job, namespace)).length === 0, {
      what: 'the Job goes once it is not wanted',
    });
  });

  test('an alias of the kind is run by the same controller', async () => {
    const namespace = await rig.namespace();
    await rig.apply(OldTrio, { metadata: { namespace, name: 'old' }, spec: { text: 'hello' } });
    await eventually(async () => (await rig.get(OldTrio, namespace, 'old'))?.status?.phase === 'Ready', {
      what: 'the alias is Ready',
    });
    const config = await rig.get(ConfigMap, namespace, 'old-config');
    equal(controllerOf(config ?? fail())?.kind, 'OldTrio');
  });

  test('is deleted by owner references, and nothing is created for it any more', async () => {
    const namespace = await rig.namespace();
    await trio(namespace, 'leaving');
    await ready(rig, namespace, 'leaving');
    await rig.admin.delete(Trio, { namespace, name: 'leaving' }, { propagation: 'Foreground' });
    await eventually(async () => (await rig.list(Trio, namespace)).length === 0, { what: 'the Trio goes' });
    const left = [...(await rig.list(ConfigMap, namespace)), ...(await rig.list(Deployment, namespace))].filter(
      ({ metadata }) => metadata.name.startsWith('leaving'),
    );
    deepEqual(left, []);
  });
});

describe('fields of a child', () => {
  for (const how of ['while the operator runs', 'after it restarted'] as const) {
    test(`what is removed from the wish is removed from the child: ${how}`, async () => {
      const namespace = await rig.namespace();
      const full = {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
        labels: { team: 'x', tier: 'y' },
        paths: ['/a', '/b'],
        withJob: false,
      };
      await trio(namespace, 'less', full);
      await ready(rig, namespace, 'less');
      if (how === 'after it restarted') await restart();
      await trio(namespace, 'less', {
        ...full,
        env: [{ name: 'B', value: '2' }],
        labels: { tier: 'y' },
        paths: ['/b'],
      });
      await eventually(async () => {
        const server = await rig.admin.get(Deployment, { namespace, name: 'less-server' });
        const config = await rig.admin.get(ConfigMap, { namespace, name: 'less-config' });
        deepEqual(
          server.spec.template.spec.containers[0]?.env?.map(({ name }) => name),
          ['B'],
        );
        deepEqual(server.spec.template.spec.containers[0]?.args, ['/b']);
        equal(server.metadata.labels?.['team'], undefined);
        equal(config.metadata.labels?.['team'], undefined);
        equal(config.metadata.labels?.['tier'], 'y');
        return true;
      });
      await ready(rig, namespace, 'less');
    });

    test(`an edit to a field of ours is undone, an edit to another survives: ${how}`, async () => {
      const namespace = await rig.namespace();
      await trio(namespace, 'mine', { env: [{ name: 'A', value: '1' }], withJob: false });
      await ready(rig, namespace, 'mine');
      const edit = {
        metadata: { annotations: { theirs: 'stays' }, labels: { also: 'stays' } },
        spec: {
          minReadySeconds: 1,
          template: {
            spec: {
              containers: [
                {
                  name: 'server',
                  image: 'intruder',
                  env: [
                    { name: 'A', value: 'drifted' },
                    { name: 'THEIRS', value: '1' },
                  ],
                },
              ],
            },
          },
        },
      };
      if (how === 'after it restarted') await operator.kill();
      await must(rig.plane, [
        '-n',
        namespace,
        'patch',
        'deployment',
        'mine-server',
        '--type=strategic',
        '--field-manager=somebody',
        '-p',
        JSON.stringify(edit),
      ]);
      await must(rig.plane, [
        '-n',
        namespace,
        'patch',
        'configmap',
        'mine-config',
        '--type=merge',
        '--field-manager=somebody',
        '-p',
        '{"data":{"text":"drifted","theirs":"stays"}}',
      ]);
      if (how === 'after it restarted') operator = await rig.operator();
      await eventually(async () => {
        const server = await rig.admin.get(Deployment, { namespace, name: 'mine-server' });
        const [container] = server.spec.template.spec.containers;
        equal(container?.image, 'server:1');
        deepEqual(
          container?.env?.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
          [
            { name: 'A', value: '1' },
            { name: 'THEIRS', value: '1' },
          ],
        );
        const config = await rig.admin.get(ConfigMap, { namespace, name: 'mine-config' });
        equal(config.data?.['text'], 'hello');
        equal(config.data?.['theirs'], 'stays');
        equal(server.metadata.annotations?.['theirs'], 'stays');
        equal(server.metadata.labels?.['also'], 'stays');
        equal(server.spec['minReadySeconds'], 1);
        return true;
      });
    });

    test(`a stranger's object under a child's name is never touched: ${how}`, async () => {
      const namespace = await rig.namespace();
      const strange = await rig.admin.create(
        ConfigMap,
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'taken-config', namespace },
          data: { text: 'theirs' },
        },
        { manager: 'somebody' },
      );
      await trio(namespace, 'taken');
      const stalled = async () => conditionOf((await rig.get(Trio, namespace, 'taken'))?.status, 'Stalled');
      await eventually(async () => (await stalled())?.reason === 'OwnershipConflict', { what: 'the conflict is told' });
      if (how === 'after it restarted') await restart();
      await pause(1_500);
      const now = await rig.admin.get(ConfigMap, { namespace, name: 'taken-config' });
      equal(now.metadata.resourceVersion, strange.metadata.resourceVersion);
      match((await stalled())?.message ?? '', /ConfigMap taken-config exists already and was not made by Baton/);
      const events = (await rig.list(KubeEvent, namespace)).filter(({ reason }) => reason === 'OwnershipConflict');
      equal(events.length, 1, 'one Warning Event, also after a restart');
      await rig.admin.delete(ConfigMap, { namespace, name: 'taken-config' }, {});
      await trio(namespace, 'taken', { text: 'again' });
      await ready(rig, namespace, 'taken');
    });
  }

  test('labels and owner that a child lost are put back, and no second child is made', async () => {
    const namespace = await rig.namespace();
    await trio(namespace, 'lost', { withJob: false });
    await ready(rig, namespace, 'lost');
    const first = await rig.admin.get(Deployment, { namespace, name: 'lost-server' });
    const strip = { metadata: { ownerReferences: null, labels: { 'baton.dev/kind': null, 'baton.dev/name': null } } };
    await must(rig.plane, [
      '-n',
      namespace,
      'patch',
      'deployment',
      'lost-server',
      '--type=merge',
      '-p',
      JSON.stringify(strip),
    ]);
    await eventually(async () => {
      const now = await rig.admin.get(Deployment, { namespace, name: 'lost-server' });
      equal(now.metadata.uid, first.metadata.uid);
      equal(controllerOf(now)?.name, 'lost');
      equal(now.metadata.labels?.['baton.dev/kind'], 'Trio');
      return true;
    });
  });
});

describe('what a Trio asks for beside its children', () => {
  test('a read subscribes: a foreign ConfigMap wakes its reader when it appears, changes and goes', async () => {
    const namespace = await rig.namespace();
    await trio(namespace, 'reader', { readFrom: 'source', withJob: false });
    await eventually(
      async () => conditionOf((await rig.get(Trio, namespace, 'reader'))?.status, 'Ready')?.reason === 'SourceMissing',
    );
    const greeting = async () => (await rig.get(ConfigMap, namespace, 'reader-config'))?.data?.['greeting'];
    for (const word of ['one', 'two']) {
      await rig.apply(ConfigMap, {
        metadata: { namespace, name: 'source', annotations: { 'test.baton.dev/greeting': word } },
      });
      await eventually(async () => (await greeting()) === word, { what: `the greeting ${word} arrives` });
    }
    await ready(rig, namespace, 'reader');
    await rig.admin.delete(ConfigMap, { namespace, name: 'source' }, {});
    await eventually(
      async () => conditionOf((await rig.get(Trio, namespace, 'reader'))?.status, 'Ready')?.reason === 'SourceMissing',
    );
  });

  test('a gathered fact is pending, then known, and wakes the object only when it changed', async () => {
    const namespace = await rig.namespace();
    await trio(namespace, 'curious', { probe: 'weather', withJob: false });
    await eventually(
      async () => conditionOf((await rig.get(Trio, namespace, 'curious'))?.status, 'Ready')?.reason === 'CannotAsk',
    );
    writeFileSync(join(rig.outside, 'weather'), 'sunny');
    const answer = async () => (await rig.get(ConfigMap, namespace, 'curious-config'))?.data?.['answer'];
    await eventually(async () => (await answer()) === 'sunny', { what: 'the first answer arrives' });
    await ready(rig, namespace, 'curious');
    const quiet = async () => {
      const passes = await operator.metric('baton_passes_total');
      await pause(5_000); // more than two fetches
      return (await operator.metric('baton_passes_total')) === passes;
    };
    await eventually(quiet, { within: 20_000, what: 'an unchanged fact wakes nobody' });
    writeFileSync(join(rig.outside, 'weather'), 'rain');
    await eventually(async () => (await answer()) === 'rain', { what: 'the second answer arrives' });
  });
});

describe('effects outside the cluster', () => {
  test('pitfall 21: are undone before the object goes, behind a finalizer that stays while that fails', async () => {
    await operator.kill();
    operator = await rig.operator({ controller: 'cleaning' });
    const namespace = await rig.namespace();
    await trio(namespace, 'outside', { external: 'bucket-7', withJob: false });
    const made = await ready(rig, namespace, 'outside');
    deepEqual(made.metadata.finalizers, ['test.baton.dev/external']);
    mkdirSync(join(rig.outside, 'forgotten')); // nothing can be written there
    await rig.admin.delete(Trio, { namespace, name: 'outside' }, {});
    await eventually(() => operator.log().includes('EISDIR'), { what: 'the undoing fails' });
    const held = await rig.get(Trio, namespace, 'outside');
    deepEqual(held?.metadata.finalizers, ['test.baton.dev/external']);
    await eventually(
      async () =>
        conditionOf((await rig.get(Trio, namespace, 'outside'))?.status, 'Stalled')?.reason === 'CleanupFailed',
    );
    rmdirSync(join(rig.outside, 'forgotten'));
    await eventually(async () => (await rig.list(Trio, namespace)).length === 0, { what: 'the Trio goes' });
    equal(readFileSync(join(rig.outside, 'forgotten'), 'utf8'), 'bucket-7\n');
    await restart();
  });
});

function fail(): never {
  ok(false, 'the object is missing');
  throw new Error('unreachable');
}
