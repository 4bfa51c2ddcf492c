import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { childIn } from '../../../tests/kit/cluster/engine.ts';
import {
  aModel,
  claim,
  deployment,
  downloadPod,
  job,
  revision,
  serverPod,
  settings,
  unschedulable,
} from '../../../tests/kit/mlmodel.ts';
import { look, noFacts, now, plan, reason } from '../../../tests/kit/plans.ts';
import { foreign, seen } from '../../../tests/kit/world.ts';
import { mark, type MLModel, parts } from '../../api/index.ts';
import type { Desired, Observed } from '../../kube/define.ts';
import { conditionOf, type Deployment } from '../../objects/index.ts';
import { decide, mlModelController } from './controller.ts';

const v1 = aModel();
const v2 = aModel({ modelURL: 'https://models.example/iris-2.onnx' }, { generation: 2 });
const digest = 'sha256:0';
const serving = '!Revision @Claim +Deployment +Service +Claim';
const ready = [revision(v1), claim(v1, { digest }), deployment(v1), serverPod(v1)];

const cases: { name: string; model?: MLModel; world: Observed; plan: string; phase: string; reason: string }[] = [
  {
    name: 'a new model asks for a volume first',
    world: seen(),
    plan: '!Revision +Claim',
    phase: 'Pending',
    reason: 'Pending',
  },
  {
    name: 'a volume that is there is filled',
    world: seen(revision(v1), claim(v1)),
    plan: '!Revision +Claim !Job',
    phase: 'Downloading',
    reason: 'Downloading',
  },
  {
    name: 'a finished download is remembered and served',
    world: seen(revision(v1), claim(v1), job(v1, 'Complete'), downloadPod(v1, { result: 'done', digest, bytes: 1 })),
    plan: serving,
    phase: 'Serving',
    reason: 'Serving',
  },
  {
    name: 'a Job that is gone is not missed once its digest is noted',
    world: seen(revision(v1), claim(v1, { digest })),
    plan: serving,
    phase: 'Serving',
    reason: 'Serving',
  },
  {
    name: 'a finished Job whose pods were not heard of is kept',
    world: seen(revision(v1), claim(v1), job(v1, 'Complete')),
    plan: '!Revision +Claim !Job',
    phase: 'Downloading',
    reason: 'Downloading',
  },
  { name: 'enough servers are ready', world: seen(...ready), plan: serving, phase: 'Ready', reason: 'Serving' },
  {
    name: 'a new source is fetched beside the old server, which keeps its weights',
    model: v2,
    world: seen(...ready),
    plan: '!Revision +Claim +Deployment +Service =Revision =Claim',
    phase: 'Pending',
    reason: 'Pending',
  },
  {
    name: 'a new source that is there rolls out, and the old weights stay for the way back',
    model: v2,
    world: seen(...ready, revision(v2, 2), claim(v2, { digest })),
    plan: `${serving} =Revision =Claim`,
    phase: 'Serving',
    reason: 'Serving',
  },
  {
    name: 'a verdict of the downloader is final',
    world: seen(
      revision(v1),
      claim(v1),
      job(v1, 'Failed'),
      downloadPod(v1, { result: 'verdict', verdict: 'SourceNotFound', message: 'the source answered 404' }),
    ),
    plan: '!Revision +Claim !Job',
    phase: 'Failed',
    reason: 'SourceNotFound',
  },
  {
    name: 'somebody else’s claim is mounted as it is',
    model: aModel({ modelURL: 'pvc://shelf/iris', storageSize: undefined as never }),
    world: seen(
      foreign({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'shelf', namespace: 'shop' },
      }),
    ),
    plan: '!Revision +Deployment +Service',
    phase: 'Serving',
    reason: 'Serving',
  },
  {
    name: 'a claim that does not exist is named',
    model: aModel({ modelURL: 'pvc://shelf/iris' }),
    world: seen(),
    plan: '!Revision',
    phase: 'Failed',
    reason: 'ClaimNotFound',
  },
];

describe('MLModel', () => {
  for (const c of cases) {
    test(c.name, () => {
      const model = c.model ?? v1;
      equal(plan(model, c.world), c.plan);
      equal(look(model, c.world).status.phase, c.phase);
      equal(reason(model, c.world), c.reason);
    });
  }

  test('going back returns at once to what is still there', () => {
    const back = aModel({}, { generation: 3 });
    const world = seen(
      revision(v1),
      claim(v1, { digest }),
      revision(v2, 2),
      claim(v2),
      job(v2, 'Failed'),
      deployment(v1),
      serverPod(v1),
    );
    equal(look(back, world).status.phase, 'Ready');
    equal(plan(back, world).includes('Job'), false, 'the failed download of the other revision is not wanted any more');
  });

  test('the old revision serves while the new one is on its way, and the status says so', () => {
    const { status } = look(v2, seen(...ready));
    match(status.message ?? '', /revision \w+ serves until then/);
    equal(conditionOf(status, 'Available')?.status, 'True');
    equal(conditionOf(status, 'Ready')?.status, 'False');
    equal(conditionOf(status, 'Reconciling')?.status, 'True');
  });

  test('an operator with another image, table and builder rolls nothing, and says that it would', () => {
    const other = {
      ...settings,
      image: 'baton:2',
      frameworks: {
        onnx: { ...settings.frameworks['onnx'], image: 'other:9', port: 9000, args: [], healthPath: '/', writable: [] },
      },
    };
    const pass = {
      object: v1,
      seen: seen(...ready),
      facts: noFacts,
      now,
    } as const;
    const then = decide(pass, settings);
    const later = decide(pass, other);
    const deployed = (want: Desired[]) => want.filter((one) => 'apply' in one && one.apply.kind === 'Deployment');
    deepEqual(deployed(later.want), deployed(then.want));
    equal(conditionOf(later.status, 'Outdated')?.status, 'True');
    equal(conditionOf(then.status, 'Outdated')?.status, 'False');
  });

  test('with no room for a second server the new one takes the place of the old one, and goes on doing so', () => {
    const told = {
      ...deployment(v2, 1),
      status: { ...deployment(v2).status, updatedReplicas: 0, replicas: 1, availableReplicas: 1 },
    };
    const crowded = seen(
      revision(v1),
      claim(v1, { digest }),
      revision(v2, 2),
      claim(v2, { digest }),
      told,
      serverPod(v1),
      serverPod(v2, unschedulable),
    );
    const takeover = (world: Observed) =>
      look(v2, world).want.flatMap((one) =>
        'apply' in one && one.apply.kind === 'Deployment'
          ? [(one.apply as Deployment).metadata.annotations?.[mark.rollout]]
          : [],
      );
    deepEqual(takeover(crowded), ['oneByOne']);
    const switched = {
      ...told,
      metadata: { ...told.metadata, annotations: { ...told.metadata.annotations, [mark.rollout]: 'oneByOne' } },
    };
    deepEqual(takeover(seen(revision(v2, 2), claim(v2, { digest }), switched)), ['oneByOne']);
  });

  test('no servers are asked for: ready, and nothing serves', () => {
    const idle = aModel({ replicas: 0 });
    const { status } = look(idle, seen(revision(idle), claim(idle, { digest }), deployment(idle)));
    equal(conditionOf(status, 'Ready')?.reason, 'ScaledToZero');
    equal(conditionOf(status, 'Available')?.status, 'False');
  });

  test('a smaller volume is not carried out, and that is said', () => {
    const small = aModel({ storageSize: '512Mi' });
    const { want, status } = look(small, seen(revision(v1), claim(v1, { digest }), deployment(v1)));
    equal(conditionOf(status, 'StorageShrinkIgnored')?.status, 'True');
    const sizes = want.flatMap((one) =>
      'apply' in one && one.apply.kind === 'PersistentVolumeClaim' ? [JSON.stringify(one.apply)] : [],
    );
    match(sizes[0] ?? '', /"storage":"1Gi"/);
  });

  test('says where it answers, also as a URL', () => {
    const { serviceEndpoint, url } = look(v1, seen(...ready)).status;
    deepEqual([serviceEndpoint, url], ['iris-service.shop.svc.cluster.local:8080', `http://${serviceEndpoint}`]);
  });

  test('a download that has ended is not forgotten while its Job has not', () => {
    const ended = seen(revision(v1), claim(v1), job(v1), downloadPod(v1, { result: 'done', digest, bytes: 7 }));
    const followed = { ...v1, status: { download: { bytes: 3, total: 7, percent: 42 } } };
    deepEqual(look(followed, ended).status.download, { bytes: 7, total: 7, percent: 100 });
    equal(look(v1, ended).status.download, undefined, 'what was over in a moment had no progress');
    const running = seen(revision(v1), claim(v1), job(v1), downloadPod(v1));
    equal(look(v1, running).status.download, undefined);
    const heard = { ...noFacts, progress: { state: 'known', value: { bytes: 3, total: 6 } } } as const;
    deepEqual(look(v1, running, { facts: heard }).status.download, { bytes: 3, total: 6, percent: 50 });
  });

  test('every condition that is told is declared, so that it is explained and taken away again', () => {
    const declared = ['Ready', 'Reconciling', 'Stalled', ...(mlModelController(settings).conditions ?? [])];
    for (const world of [seen(), seen(...ready)])
      for (const { type } of look(aModel({ retain: true, storageSize: '512Mi' }), world).status.conditions ?? [])
        ok(declared.includes(type), type);
  });

  test('children are named by the parts that are kept for this kind, or by the hash of a revision', () => {
    const many = aModel({ replicas: 2, expose: true });
    const worlds = [seen(), seen(revision(many), claim(many)), seen(revision(many), claim(many, { digest }))];
    const found = worlds.flatMap((world) => look(many, world).want.map(childIn));
    const partOf = (name: string) => /^iris-([a-z]+)(-[0-9a-f]+)*$/.exec(name)?.[1] ?? '';
    for (const { metadata, kind } of found)
      ok(kind === 'ControllerRevision' || parts.MLModel.some((part) => part === partOf(metadata.name)), metadata.name);
    equal(new Set(found.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).size, 7);
  });
});
