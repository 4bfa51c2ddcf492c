// What an edit does to a model that is there: which edits touch what, and what becomes of what was before.

import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aModel,
  claim,
  deployment,
  downloadPod,
  job,
  revision,
  serverPod,
  storageClass,
  unschedulable,
} from '../../../tests/kit/mlmodel.ts';
import { look, plan, says, servers, wantedOf } from '../../../tests/kit/plans.ts';
import { foreign, seen } from '../../../tests/kit/world.ts';
import { mark, type MLModel } from '../../api/index.ts';
import {
  conditionOf,
  type Deployment,
  type KubeObject,
  label,
  type LooseCondition,
  PersistentVolumeClaim,
} from '../../objects/index.ts';

const v1 = aModel();
const v2 = aModel({ modelURL: 'https://models.example/iris-2.onnx' });
const v3 = aModel({ modelURL: 'https://models.example/iris-3.onnx' });
const digest = 'sha256:0';
const ready = [revision(v1), claim(v1, { digest }), deployment(v1), serverPod(v1)];

const applied = (model: MLModel, ...world: Parameters<typeof seen>) => {
  const [found] = wantedOf<PersistentVolumeClaim>(look(model, seen(...world)), PersistentVolumeClaim.kind);
  return found && [found.spec.resources?.requests?.storage, found.spec.storageClassName];
};

describe('the size and the class of a volume', () => {
  const fast = (rest: object) => foreign(storageClass('fast', rest));
  const held = claim;
  const inFast = aModel({ storageClassName: 'fast' });
  const larger = aModel({ storageClassName: 'fast', storageSize: '4Gi' });

  test('a volume with weights grows where its class can', () => {
    const world = [revision(inFast), held(inFast, { digest }), fast({ allowVolumeExpansion: true })];
    deepEqual(applied(larger, ...world), ['4Gi', undefined]);
  });

  test('it stays as it is where the class cannot, and that is said', () => {
    const world = [revision(inFast), held(inFast, { digest }), fast({ allowVolumeExpansion: false })];
    deepEqual(applied(larger, ...world), ['1Gi', undefined]);
    equal(conditionOf(look(larger, seen(...world)).status, 'StorageChangeIgnored')?.reason, 'VolumeCannotGrow');
  });

  for (const storageSize of ['', '-1Gi', '10Gb', '1e30', '1Gi ']) {
    const odd = aModel({ storageClassName: 'fast', storageSize });
    const growing = fast({ allowVolumeExpansion: true });

    test(`"${storageSize}", which is older than the rules, touches no volume with weights`, () => {
      deepEqual(applied(odd, revision(inFast), held(inFast, { digest }), growing), ['1Gi', undefined]);
    });

    test(`"${storageSize}" gets no volume`, () => {
      const told = look(odd, seen(growing));
      equal(plan(odd, seen(growing)), '!Revision');
      equal(conditionOf(told.status, 'Stalled')?.status, 'True');
      equal(conditionOf(told.status, 'Ready')?.reason, 'InvalidQuantity');
      match(told.status.message ?? '', new RegExp(`^spec\\.storageSize is "${storageSize}"`));
    });
  }

  test('without weights on it, one that cannot grow is replaced', () => {
    const world = [revision(inFast), held(inFast, {}), fast({ allowVolumeExpansion: false })];
    equal(plan(larger, seen(...world)), '!Revision');
    equal(conditionOf(look(larger, seen(...world)).status, 'Ready')?.reason, 'ClaimReplaced');
  });

  test('a claim that is not bound takes no other size, so another one is made, also a smaller one', () => {
    const world = [revision(inFast), held(inFast, { phase: 'Pending' }), fast({ allowVolumeExpansion: true })];
    equal(plan(larger, seen(...world)), '!Revision');
    const smaller = aModel({ storageClassName: 'fast', storageSize: '512Mi' });
    equal(plan(smaller, seen(...world)), '!Revision');
  });

  test('the same size in other words is the same size', () => {
    const same = aModel({ storageClassName: 'fast', storageSize: '1024Mi' });
    const world = [revision(inFast), held(inFast, { phase: 'Pending' }), fast({})];
    equal(plan(same, seen(...world)), '!Revision +Claim');
  });

  test('another class counts for the next weights, and that is said', () => {
    const moved = aModel({ storageClassName: 'slow' });
    const world = [revision(inFast), held(inFast, { digest }), fast({})];
    deepEqual(applied(moved, ...world), ['1Gi', undefined]);
    match(
      conditionOf(look(moved, seen(...world)).status, 'StorageChangeIgnored')?.message ?? '',
      /stays in class fast/,
    );
  });

  test('a class that gives no volume can be mended', () => {
    const moved = aModel({ storageClassName: 'slow' });
    equal(plan(moved, seen(revision(inFast), held(inFast, { phase: 'Pending' }))), '!Revision');
  });

  test('a class is named when a claim is made and never again, because it could not be taken back', () => {
    deepEqual(applied(inFast), ['1Gi', 'fast']);
    deepEqual(applied(inFast, revision(inFast), held(inFast, {}), fast({})), ['1Gi', undefined]);
    const outlived = foreign(claim(aModel({ ...inFast.spec, retain: true }), { digest }));
    deepEqual(applied(aModel({ retain: true }), outlived), ['1Gi', undefined]);
  });

  test('a class that the cluster chose is nobody’s mistake', () => {
    const made = claim(v1, { phase: 'Pending' });
    const chosen: PersistentVolumeClaim = { ...made, spec: { ...made.spec, storageClassName: 'fast' } };
    equal(plan(v1, seen(revision(v1), chosen, fast({}))), '!Revision +Claim');
  });

  test('`retain` comes and goes with the label that keeps the claim', () => {
    const kept = (retain: boolean) =>
      wantedOf(look(aModel({ retain }), seen(...ready)), PersistentVolumeClaim.kind).map(
        ({ metadata }) => metadata.labels?.[label.retained] !== undefined,
      );
    deepEqual(kept(true), [true, true]);
    deepEqual(kept(false), [false, false]);
    equal(says(look(aModel({ retain: true }), seen(...ready)), 'Retained'), 'True');
  });

  test('former claims follow `retain`, too, and those that stay are named', () => {
    const edited = (retain: boolean) =>
      look(
        aModel({ modelURL: 'https://models.example/iris-2.onnx', retain }),
        seen(...ready.filter(({ kind }) => kind !== PersistentVolumeClaim.kind), former(!retain)),
      );
    const former = (retain: boolean) => claim(aModel({ retain }), { digest });
    const { name } = former(true).metadata;
    const marked = (retain: boolean) =>
      wantedOf(edited(retain), PersistentVolumeClaim.kind).find(({ metadata }) => metadata.name === name)?.metadata
        .labels?.[label.retained];
    deepEqual([marked(true), marked(false)], [former(true).metadata.labels?.[mark.weights], undefined]);
    match(
      conditionOf(edited(true).status, 'Retained')?.message ?? '',
      new RegExp(`^The volumes .*${name}.* stay when`),
    );
  });
});

describe('an attempt', () => {
  const failed = [
    revision(v1),
    claim(v1),
    job(v1, 'Failed'),
    downloadPod(v1, { result: 'verdict', verdict: 'SourceUnauthorized', message: '401' }),
  ];
  const begins = (model: MLModel, ...world: KubeObject[]) => plan(model, seen(...world)).includes('!Job');
  const attempt = (model: MLModel, ...world: KubeObject[]) =>
    wantedOf(look(model, seen(...world)), 'Job')[0]?.metadata.annotations?.[mark.attempt];

  for (const [what, mended] of Object.entries({
    'a retry annotation': aModel({}, { annotations: { [mark.retry]: '1' } }),
    credentials: aModel({ credentials: 'mine' }),
    'a node selector': aModel({ nodeSelector: { disk: 'fast' } }),
    'labels of the pods, which network policies choose by': aModel({ podLabels: { egress: 'open' } }),
  }))
    test(`that failed for good is followed by another after a change of ${what}`, () => {
      const [before, after] = [attempt(v1, ...failed), attempt(mended, ...failed)];
      notEqual(after, undefined);
      notEqual(after, before);
      equal(look(mended, seen(...failed)).status.phase, 'Downloading');
    });

  test('that failed for good is not repeated after a change of what only the servers use', () => {
    for (const same of [aModel({ server: { args: ['x'] } }), aModel({ replicas: 3 }), aModel({ env: [] })])
      equal(look(same, seen(...failed)).status.phase, 'Failed');
  });

  test('that found no room is followed by another when the volume has grown, or grows as soon as a pod mounts it', () => {
    const larger = aModel({ storageSize: '4Gi' });
    const full = job(v1, 'Failed');
    const of = (size: string, capacity: string, conditions: LooseCondition[] = []): PersistentVolumeClaim => ({
      ...claim(aModel({ storageSize: size })),
      status: { phase: 'Bound', capacity: { storage: capacity }, conditions },
    });
    equal(begins(larger, revision(v1), full, of('1Gi', '1Gi')), false, 'it is only asked to grow');
    equal(begins(larger, revision(v1), full, of('4Gi', '1Gi')), false, 'it grows');
    match(look(larger, seen(revision(v1), full, of('4Gi', '1Gi'))).status.message ?? '', /has not grown yet/);
    const pending: LooseCondition = { type: 'FileSystemResizePending', status: 'True' };
    equal(begins(larger, revision(v1), full, of('4Gi', '1Gi', [pending])), true);
    equal(begins(larger, revision(v1), full, of('4Gi', '4Gi')), true);
  });

  test('that runs well goes on, though a person would now begin it in another way', () => {
    const larger = aModel({ storageSize: '2Gi' });
    const world = [revision(v1), claim(v1), job(v1), downloadPod(v1)];
    equal(attempt(larger, ...world), attempt(v1, ...world));
  });

  test('that is stuck gives way to one as asked, once it is gone', () => {
    const elsewhere = aModel({ nodeSelector: { disk: 'fast' } });
    const stuck = { ...downloadPod(v1), status: unschedulable };
    equal(begins(elsewhere, revision(v1), claim(v1), job(v1), stuck), false);
    equal(begins(elsewhere, revision(v1), claim(v1), stuck), false, 'its pod is still there');
    equal(begins(elsewhere, revision(v1), claim(v1)), true);
  });
});

describe('what was before', () => {
  const fetched = [revision(v1, 1), claim(v1, { digest }), revision(v2, 2), claim(v2, { digest })];
  const names = (...models: MLModel[]) => models.map((model) => look(model, seen()).status.revision);
  const kept = (model: MLModel, ...world: KubeObject[]) => look(model, seen(...world)).status.history;
  const serving = (model: MLModel, served: MLModel[] = []): Deployment => {
    const object = deployment(model);
    const annotations = { ...object.metadata.annotations, [mark.served]: names(...served).join(',') };
    return { ...object, metadata: { ...object.metadata, annotations } };
  };
  const history = (model: MLModel, count: number): MLModel => ({
    ...model,
    spec: { ...model.spec, rollout: { ...model.spec.rollout, history: count } },
  });
  const third = [revision(v3, 3), claim(v3, { digest })];

  test('is scaled with the model while something else is fetched', () => {
    const more = { ...v2, spec: { ...v2.spec, replicas: 3 } };
    const decision = look(more, seen(...ready, revision(v2, 2), claim(v2), job(v2)));
    equal(servers(decision)?.spec.replicas, 3);
    deepEqual([servers(decision)?.metadata.annotations?.[mark.revision]], names(v1));
  });

  test('stays until what is asked has arrived, and then as much of it as history says', () => {
    const world = [...fetched, ...third];
    deepEqual(kept(v3, ...world, serving(v2, [v1])), names(v2, v1));
    deepEqual(kept(v3, ...world, serving(v3, [v2, v1])), names(v2));
    deepEqual(kept(history(v3, 0), ...world, serving(v3, [v2, v1])), []);
    deepEqual(kept(history(v3, 2), ...world, serving(v3, [v2, v1])), names(v2, v1));
  });

  test('is what served last, not what was made last', () => {
    deepEqual(kept(v3, ...fetched, ...third, serving(v3, [v1, v2])), names(v1));
  });

  test('is remembered as served when something else takes over, if it had arrived', () => {
    const arrived = serving(v1);
    const conditions = [
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: '' } as const,
    ];
    const before = (status: Deployment['status']) =>
      servers(look(v2, seen(...fetched, { ...arrived, status } as Deployment)))?.metadata.annotations?.[mark.served];
    deepEqual([before({ ...arrived.status, conditions })], names(v1));
    equal(before(arrived.status), '');
  });

  test('is worth keeping only if it has weights', () => {
    const world = [revision(v1, 1), claim(v1, { digest }), revision(v2, 2), ...third, serving(v3)];
    const stored = wantedOf(look(v3, seen(...world)), 'ControllerRevision').map(({ metadata }) => metadata.name);
    deepEqual(
      stored,
      names(v3, v1).map((name) => `iris-${name}`),
    );
  });

  test('is kept for its pods, but not for pods that are long over', () => {
    const world = [...fetched, ...third, serving(v3, [v2, v1])];
    const none = history(v3, 0);
    deepEqual(kept(none, ...world, serverPod(v1)), names(v1));
    deepEqual(kept(none, ...world, serverPod(v1, { phase: 'Failed', reason: 'Evicted' })), []);
  });

  test('shares its volume with what is asked if only the servers differ', () => {
    const other = aModel({ server: { args: ['--other'] } });
    const world = seen(revision(v1, 1), claim(v1, { digest }), revision(other, 2), deployment(other), serverPod(other));
    equal(plan(history(other, 0), world), '!Revision @Claim +Deployment +Service +Claim');
    equal(plan(other, world), '!Revision @Claim +Deployment +Service +Claim =Revision');
  });
});

describe('what is around the servers', () => {
  test('comes and goes with exposure and with a second server', () => {
    equal(plan(aModel({ expose: true }), seen(...ready)), '!Revision @Claim +Deployment +Service +Claim +Service');
    equal(plan(aModel({ replicas: 2 }), seen(...ready)), '!Revision @Claim +Deployment +Service +Budget +Claim');
    equal(plan(v1, seen(...ready)), '!Revision @Claim +Deployment +Service +Claim');
  });

  test('a volume for one node is told as such, one for several is not', () => {
    equal(says(look(v1, seen(...ready)), 'NodeBound'), 'True');
    equal(says(look(aModel({ accessMode: 'ReadWriteMany' }), seen()), 'NodeBound'), undefined);
  });
});
