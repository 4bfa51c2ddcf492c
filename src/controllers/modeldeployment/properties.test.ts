// What holds of every decision, whatever the cache saw: worlds are put together by chance of parts that need not fit.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { childIn } from '../../../tests/kit/cluster/engine.ts';
import { crashing, readyStatus, unschedulable } from '../../../tests/kit/mlmodel.ts';
import {
  aDeployment,
  answered,
  deployment,
  digest,
  look,
  noFacts,
  resolution,
  resolvePod,
  revision,
  serverPod,
} from '../../../tests/kit/modeldeployment.ts';
import { says, servers } from '../../../tests/kit/plans.ts';
import { seen } from '../../../tests/kit/world.ts';
import { mark, type ModelDeployment } from '../../api/index.ts';
import { conditionOf, Deployment, kstatusOf, type KubeObject } from '../../objects/index.ts';
import { sized } from './autoscaler.ts';
import { revisionName } from './revision.ts';

const specs = fc.record({
  image: fc.constantFrom('registry.example/iris:1', 'registry.example/iris:2', `registry.example/iris@${digest}`),
  replicas: fc.constantFrom(0, 1, 3),
  port: fc.constantFrom(5000, 8080),
  bounds: fc.constantFrom({}, { maxReplicas: 2 }, { minReplicas: 2, maxReplicas: 4 }, { minReplicas: 0 }),
  pull: fc.constantFrom<Partial<ModelDeployment['spec']>>({}, { imagePullSecrets: [{ name: 'login' }] }),
  strategy: fc.constantFrom('auto' as const, 'surge' as const, 'replace' as const),
});

const objects = specs.map(({ bounds, pull, strategy, ...spec }) =>
  aDeployment({ ...spec, ...bounds, ...pull, rollout: { strategy, progressDeadlineSeconds: 600, history: 1 } }),
);

const facts = fc.constantFrom(
  noFacts,
  answered({ digest }),
  answered({ refused: 'SourceNotFound', message: 'it is not there' }),
  answered({ refused: 'SourceUnauthorized', message: 'who asks?' }),
  { ...noFacts, manifest: { state: 'failed', why: 'no route', lasting: true } } as const,
);

/** Parts of the world of one object, some of them of another that it once was. */
const worlds = (object: ModelDeployment, former: ModelDeployment) =>
  fc
    .record({
      revisions: fc.subarray([revision(object, 2), revision(former, 1)]),
      running: fc.constantFrom(undefined, deployment(sized(object)), deployment(sized(object), 0), deployment(former)),
      pods: fc.subarray([
        ...[readyStatus, crashing, unschedulable].map((status, at) => named(serverPod(object, status), `a-${at}`)),
        named(serverPod(former), 'b'),
      ]),
      job: fc.constantFrom([], [resolution(object)], [resolution(object, 'Complete'), resolvePod(object, word)]),
    })
    .map(({ revisions, running, pods, job }) => seen(...revisions, ...(running ? [running] : []), ...pods, ...job));

const word = { result: 'done', digest, bytes: 1, mountable: false } as const;
const named = <T extends KubeObject>(object: T, name: string): T => ({
  ...object,
  metadata: { ...object.metadata, name },
});

const scenes = fc
  .tuple(objects, objects, facts)
  .chain(([object, former, told]) => worlds(object, former).map((world) => ({ object, world, told })));

test('every decision keeps what serves, runs digests alone, and says one thing at a time', () => {
  const property = fc.property(scenes, ({ object, world, told }) => {
    const decision = look(object, world, told);
    const { want, status } = decision;
    deepEqual(look(object, world, told), decision, 'the same world, the same words');
    const names = want.map((one) => `${childIn(one).kind} ${childIn(one).metadata.name}`);
    equal(new Set(names).size, names.length, `wanted twice: ${names.join()}`);

    const running = world.all(Deployment);
    ok(running.length === 0 || names.includes('Deployment iris-model'), 'what serves is not taken away');
    const applied = servers(decision);
    ok(!applied || applied.spec.template.spec.containers.every(({ image }) => image.includes('@sha256:')));

    const [ready, stalled, busy] = ['Ready', 'Stalled', 'Reconciling'].map((type) => says(decision, type) === 'True');
    ok(!(stalled && busy) && !(ready && stalled), JSON.stringify(status.conditions));
    ok(ready || stalled || busy, 'it says where it stands');
    equal(status.phase, stalled ? 'Failed' : ready ? 'Ready' : 'Processing');
    ok(conditionOf(status, 'Ready')?.message === status.message && status.message !== '');
    equal(kstatusOf({ ...object, status }), stalled ? 'Failed' : ready && !busy ? 'Current' : 'InProgress');
    if (ready) isHonest(object, running[0]);
  });
  fc.assert(property, { numRuns: 5_000, seed: 20_261_116 });
});

function isHonest(object: ModelDeployment, running: Deployment | undefined): void {
  const { replicas } = sized(object).spec;
  equal(running?.metadata.annotations?.[mark.revision], revisionName(object));
  ok((running?.status?.availableReplicas ?? 0) >= (replicas > 1 ? replicas - 1 : replicas));
}
