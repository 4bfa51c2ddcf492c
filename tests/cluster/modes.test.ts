// Which objects an operator looks after: one, several or all namespaces, and parents that a label selects, so that two
// versions of an operator can live side by side.

import { equal, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import { manifestsOf } from '../../src/kube/index.ts';
import { ConfigMap, Deployment } from '../../src/objects/index.ts';
import { account, home, must, ready, type Rig, startRig } from '../kit/rig.ts';
import { trioController } from '../kit/trio/controller.ts';
import { Trio } from '../kit/trio/schema.ts';

let rig: Rig;
before(async () => {
  rig = await startRig();
});
after(() => rig.stop());

const spec = { text: 'hello', withJob: false };
const trio = (namespace: string, name: string, labels: Record<string, string> = {}) =>
  rig.apply(Trio, { metadata: { namespace, name, labels }, spec });

describe('namespaces', () => {
  test('an install with Roles only works in its namespaces and touches no other', async () => {
    const [one, two, other] = [await rig.namespace(), await rig.namespace(), await rig.namespace()];
    await must(rig.plane, ['delete', 'clusterrolebinding', 'trio']);
    const roles = manifestsOf([trioController], { serviceAccount: account, namespace: home, watched: [one, two] });
    await must(rig.plane, ['apply', '-f', '-'], roles.map((role) => stringify(role)).join('---\n'));
    const operator = await rig.operator({ namespaces: [one, two], lease: { namespace: one, name: 'trio' } });
    await Promise.all([trio(one, 'a'), trio(two, 'a'), trio(other, 'a')]);
    await Promise.all([ready(rig, one, 'a'), ready(rig, two, 'a')]);
    equal((await rig.list(ConfigMap, other)).filter(({ metadata }) => metadata.name === 'a-config').length, 0);
    const scopes = rig.proxy.trace.requests({ verb: 'watch' }).map(({ namespace }) => namespace);
    ok(
      scopes.every((namespace) => namespace === one || namespace === two),
      'no watch of all namespaces',
    );
    equal((await operator.probe('/readyz')).status, 200);
    await operator.stop();
    await must(
      rig.plane,
      ['apply', '-f', '-'],
      manifestsOf([trioController], { serviceAccount: account, namespace: home })
        .map((role) => stringify(role))
        .join('---\n'),
    );
  });
});

describe('selected parents', () => {
  test('two operators share a cluster, each with its own objects; a relabelled one changes hands', async () => {
    const namespace = await rig.namespace();
    const blue = await rig.operator({ parentSelector: 'line=blue' });
    const green = await rig.operator({ parentSelector: 'line=green' });
    await trio(namespace, 'one', { line: 'blue' });
    await trio(namespace, 'none', { line: 'red' });
    await ready(rig, namespace, 'one');
    const passes = await green.metric('baton_passes_total', 'controller="Trio"');
    await must(rig.plane, ['-n', namespace, 'label', 'trio', 'one', 'line=green', '--overwrite']);
    await blue.kill();
    await rig.apply(Trio, {
      metadata: { namespace, name: 'one', labels: { line: 'green' } },
      spec: { ...spec, replicas: 2 },
    });
    await ready(rig, namespace, 'one');
    ok((await green.metric('baton_passes_total', 'controller="Trio"')) > passes);
    equal((await rig.list(Deployment, namespace)).length, 1, 'the other operator went on with the same children');
    await pause(500);
    equal((await rig.get(Trio, namespace, 'none'))?.status, undefined);
    await green.kill();
  });
});
