// What happens to a model when somebody or something takes away what it needs: volumes, Jobs, revisions, Deployments.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aModel,
  claim,
  crashing,
  deployment,
  downloadPod,
  job,
  leaving,
  revision,
  serverPod,
} from '../../../tests/kit/mlmodel.ts';
import { look, plan, says, servers, wantedOf } from '../../../tests/kit/plans.ts';
import { foreign, seen } from '../../../tests/kit/world.ts';
import { mark, type MLModel } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { conditionOf, Service } from '../../objects/index.ts';
import { service } from './network.ts';

const v1 = aModel();
const v2 = aModel({ modelURL: 'https://models.example/iris-2.onnx' }, { generation: 2 });
const digest = 'sha256:0';
const done = { result: 'done', digest, bytes: 1 } as const;
const pending = { phase: 'Pending' };

const cases: { name: string; model?: MLModel; world: Observed; plan: string; phase: string; reason: string }[] = [
  {
    name: 'servers that answer go on with a claim that is being deleted',
    world: seen(revision(v1), leaving(claim(v1, { digest })), deployment(v1), serverPod(v1)),
    plan: '!Revision =Deployment +Service =Claim',
    phase: 'Ready',
    reason: 'Serving',
  },
  {
    name: 'a claim that is being deleted gets no download, even one that has ended well',
    world: seen(revision(v1), leaving(claim(v1)), job(v1, 'Complete'), downloadPod(v1, done)),
    plan: '!Revision',
    phase: 'CreatingStorage',
    reason: 'ClaimLeaving',
  },
  {
    name: 'a claim without its volume is given up when nothing answers from it',
    world: seen(revision(v1), claim(v1, { digest, phase: 'Lost' })),
    plan: '!Revision',
    phase: 'CreatingStorage',
    reason: 'ClaimLost',
  },
  {
    name: 'the word of a download does not hold for another claim than it filled',
    world: seen(revision(v1), job(v1, 'Complete'), downloadPod(v1, done)),
    plan: '!Revision',
    phase: 'CreatingStorage',
    reason: 'ClaimGone',
  },
  {
    name: 'servers whose weights are gone stop before a new volume is there for them to start on',
    world: seen(revision(v1), deployment(v1, 0), serverPod(v1, pending)),
    plan: '!Revision +Deployment +Service',
    phase: 'CreatingStorage',
    reason: 'ClaimGone',
  },
  {
    name: 'then the volume comes, and stays without servers until it is filled',
    world: seen(revision(v1), deployment(v1, 0)),
    plan: '!Revision +Claim +Deployment +Service',
    phase: 'Pending',
    reason: 'Pending',
  },
  {
    name: 'a verdict outlives its claim',
    world: seen(
      revision(v1),
      job(v1, 'Failed'),
      downloadPod(v1, { result: 'verdict', verdict: 'SourceNotFound', message: '404' }),
    ),
    plan: '!Revision +Claim !Job',
    phase: 'Failed',
    reason: 'SourceNotFound',
  },
  {
    name: 'what serves stays, with its weights, though somebody removed its revision',
    model: v2,
    world: seen(revision(v2, 2), claim(v2), claim(v1, { digest }), deployment(v1), serverPod(v1), service(v1, 8080)),
    plan: '!Revision +Claim !Job =Deployment +Service =Claim',
    phase: 'Downloading',
    reason: 'Downloading',
  },
  {
    name: 'a Deployment that somebody removed comes back with what it ran while something else is fetched',
    model: v2,
    world: seen(revision(v1), claim(v1, { digest }), revision(v2, 2), claim(v2)),
    plan: '!Revision +Claim !Job +Deployment +Service =Revision =Claim',
    phase: 'Downloading',
    reason: 'Downloading',
  },
  {
    name: 'a download that was stopped must be gone before the next one writes onto its volume',
    world: seen(revision(v1), claim(v1), leaving(downloadPod(v1))),
    plan: '!Revision +Claim',
    phase: 'Downloading',
    reason: 'DownloadEnding',
  },
];

describe('a loss', () => {
  for (const c of cases)
    test(c.name, () => {
      const model = c.model ?? v1;
      equal(plan(model, c.world), c.plan);
      const { status } = look(model, c.world);
      equal(status.phase, c.phase);
      equal(conditionOf(status, 'Ready')?.reason, c.reason);
    });

  test('of the weights is told while the servers still answer', () => {
    const going = look(v1, seen(revision(v1), leaving(claim(v1, { digest })), deployment(v1), serverPod(v1)));
    equal(says(going, 'DataLost'), 'True');
    equal(says(going, 'StorageReady'), 'False');
    match(conditionOf(going.status, 'DataLost')?.message ?? '', /scale to zero to fetch the weights again/);
  });

  test('is told, and nothing is served, while the weights are fetched again', () => {
    const decision = look(v1, seen(revision(v1), claim(v1), job(v1), deployment(v1, 0)));
    equal(says(decision, 'DataLost'), 'True');
    equal(servers(decision)?.spec.replicas, 0);
  });

  test('of the new weights half-way brings back the old servers, which never went', () => {
    const world = seen(
      revision(v1),
      claim(v1, { digest }),
      revision(v2, 2),
      leaving(claim(v2, { digest })),
      deployment(v2, 1),
      serverPod(v1),
      serverPod(v2, pending),
    );
    const decision = look(v2, world);
    equal(servers(decision)?.metadata.annotations?.[mark.revision], look(v1, world).status.revision);
    equal(servers(decision)?.spec.replicas, 1);
  });

  test('of weights that are asked again, with nothing answering, stops whatever keeps the volume from going', () => {
    const shelf = aModel({ modelURL: 'pvc://shelf/iris' });
    const there = foreign({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'shelf' } });
    const running = [deployment(shelf, 0), serverPod(shelf, crashing)];
    const decision = look(v1, seen(revision(v1), revision(shelf, 2), ...running, serverPod(v1, pending), there));
    equal(servers(decision)?.spec.replicas, 0);
    const cleared = look(v1, seen(revision(v1), revision(shelf, 2), ...running, there));
    equal(servers(cleared)?.spec.replicas, 1);
  });

  test('is no reason to go back unasked to what served before', () => {
    const world = seen(
      revision(v1),
      claim(v1, { digest }),
      revision(v2, 2),
      deployment(v2, 0),
      serverPod(v2, crashing),
    );
    const decision = look(v2, world);
    equal(servers(decision)?.metadata.annotations?.[mark.revision], decision.status.revision);
    equal(servers(decision)?.spec.replicas, 0);
  });

  test('of both the revision and the weights of what ran stops it, and it still knows what served before', () => {
    const decision = look(v2, seen(revision(v2, 2), claim(v2), deployment(v1, 0)));
    equal(servers(decision)?.spec.replicas, 0);
    equal(servers(decision)?.metadata.annotations?.[mark.revision], look(v1, seen()).status.revision);
  });

  test('of everything that ran leaves the address as it is', () => {
    const world = seen(revision(v1), claim(v1), service(v1, 8080));
    deepEqual(
      wantedOf(look(v1, world), Service.kind).map(({ metadata }) => metadata.name),
      ['iris-service'],
    );
  });

  test('that a person lets go by scaling to zero is fetched again, and not stalled meanwhile', () => {
    const none = aModel({ replicas: 0 });
    const decision = look(none, seen(revision(v1), leaving(claim(v1, { digest })), deployment(v1), serverPod(v1)));
    equal(servers(decision)?.spec.replicas, 0);
    equal(says(decision, 'Stalled'), 'False');
    match(decision.status.message ?? '', /the weights are fetched again once nothing uses it any more/);
  });

  test('that servers hold up for ever is stalled, and says what to do', () => {
    const refreshed = aModel({}, { annotations: { [mark.refresh]: '1' } });
    const world = seen(revision(v1), leaving(claim(v1, { digest })), deployment(v1), serverPod(v1));
    const decision = look(refreshed, world);
    equal(says(decision, 'Stalled'), 'True');
    equal(says(decision, 'Available'), 'True');
    ok(decision.status.message?.includes('scale to zero'));
  });

  test('of pods that had the name of this Job before says nothing about it', () => {
    const former = downloadPod(v1, done);
    const stranger = {
      ...former,
      metadata: {
        ...former.metadata,
        labels: { ...former.metadata.labels, 'batch.kubernetes.io/controller-uid': 'uid-of-another' },
      },
    };
    equal(look(v1, seen(revision(v1), claim(v1), job(v1, 'Complete'), stranger)).status.phase, 'Downloading');
  });
});
