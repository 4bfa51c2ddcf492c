// Weights that are an image: looked at once, cut with the digest, mounted where nodes can, downloaded where not.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aModel,
  claim,
  deployment,
  inspection,
  inspectPod,
  leaving,
  revision,
  serverPod,
  settings,
} from '../../../tests/kit/mlmodel.ts';
import { look, noFacts, now, plan, reason, says, servers, wantedOf } from '../../../tests/kit/plans.ts';
import { seen } from '../../../tests/kit/world.ts';
import { mark, type MLModel } from '../../api/index.ts';
import type { Facts, Known } from '../../kube/define.ts';
import { conditionOf, type ControllerRevision, type Job, type PersistentVolumeClaim } from '../../objects/index.ts';
import { decide } from './controller.ts';
import type { MLModelFacts } from './facts.ts';
import type { Looked } from './registry.ts';
import type { Revision } from './revision.ts';

const digest = `sha256:${'1'.repeat(64)}`;
const pinned = `registry.example:5000/models/iris@${digest}`;
const found = { digest, bytes: 3 * 1024 ** 3, mounted: true };

const { storageSize: _size, ...unsized } = aModel().spec;
const image = (spec: Partial<MLModel['spec']> = {}, metadata: Partial<MLModel['metadata']> = {}): MLModel => ({
  ...aModel({}, metadata),
  spec: { ...unsized, modelURL: 'oci://registry.example:5000/models/iris:1', ...spec },
});

const told = (manifest: Known<Looked>, mounts: boolean | 'unknown' = true): Facts<MLModelFacts> => ({
  ...noFacts,
  manifest,
  imageVolumes: mounts === 'unknown' ? { state: 'pending' } : { state: 'known', value: mounts },
});
const known = (mountable: boolean): Known<Looked> => ({
  state: 'known',
  value: { digest, mountable, bytes: found.bytes },
});
const refused = (
  verdict: 'SourceUnauthorized' | 'SourceNotFound' | 'SourceTLSError' | 'EgressDenied',
): Known<Looked> => ({
  state: 'known',
  value: { refused: verdict, message: 'the registry said no' },
});

const v1 = image();
const serving = '!Revision +Deployment +Service';
const downloading = '!Revision +Claim';

describe('an image that nodes can mount', () => {
  const decision = look(v1, seen(), { facts: told(known(true)) });

  test('is served without a claim and without a Job, by its digest', () => {
    equal(plan(v1, seen(), told(known(true))), serving);
    const { metadata, spec } = servers(decision)?.spec.template ?? { spec: { containers: [] } };
    const [weights] = spec['volumes'] as object[];
    deepEqual(weights, { name: 'weights', image: { reference: pinned, pullPolicy: 'IfNotPresent' } });
    equal('affinity' in spec, false, 'any node may run it');
    equal(metadata?.annotations?.[mark.image], pinned);
    equal(mark.weights in (metadata?.labels ?? {}), false);
  });

  test('says so', () => {
    equal(decision.status.weightsPath, 'ImageVolume');
    equal(decision.status.digest, digest);
    deepEqual(
      ['StorageReady', 'Downloaded', 'NodeBound', 'Retained'].map((type) => says(decision, type)),
      ['True', 'True', undefined, undefined],
    );
    equal(conditionOf(decision.status, 'Downloaded')?.reason, 'ImageVolume');
  });

  test('keeps the digest of its revision, whatever the tag means later', () => {
    const world = seen(revision(v1, 1, found), deployment(v1, 1, found), serverPod(v1, undefined, found));
    const later: Known<Looked> = { state: 'known', value: { digest: 'sha256:2', mountable: false, bytes: 1 } };
    const after = look(v1, world, { facts: told(later, false) });
    equal(after.status.digest, digest);
    equal(reason(v1, world, told(later, false)), 'Serving');
    equal(conditionOf(after.status, 'Outdated')?.status, 'False');
  });

  test('keeps it too when somebody removes the revision under the servers', () => {
    const world = seen(deployment(v1, 1, found), serverPod(v1, undefined, found));
    const after = look(v1, world, { facts: told({ state: 'pending' }) });
    equal(after.status.digest, digest);
    const [stored] = wantedOf<ControllerRevision>(after, 'ControllerRevision');
    ok(stored);
    deepEqual((stored.data as Revision).source, { from: 'image', image: pinned });
    equal(conditionOf(after.status, 'Ready')?.status, 'True');
  });

  test('is asked for by its digest where one is named', () => {
    const exact = image({ digest });
    const asked = decide({ object: exact, seen: seen(), facts: told(known(true)), now }, settings);
    equal(asked.status.digest, digest);
  });

  test('is mounted or not as the setting says, without asking nodes', () => {
    const facts = told(known(true), 'unknown');
    const way = (imageVolumes: 'on' | 'off' | 'auto') =>
      decide({ object: v1, seen: seen(), facts, now }, { ...settings, imageVolumes }).status.weightsPath;
    deepEqual([way('on'), way('off'), way('auto')], ['ImageVolume', 'Claim', undefined]);
  });

  test('stays in the history, and the way back needs nothing', () => {
    const v2 = image({ modelURL: 'oci://registry.example:5000/models/iris:2' }, { generation: 2 });
    const other = { ...found, digest: 'sha256:2' };
    const world = seen(
      revision(v1, 1, found),
      revision(v2, 2, other),
      deployment(v2, 1, other),
      serverPod(v2, undefined, other),
    );
    deepEqual(look(v2, world).status.history, [(revision(v1, 1, found).data as Revision).name]);
    equal(plan(v1, world), `${serving} =Revision`);
  });
});

describe('an image that must be downloaded', () => {
  for (const [why, facts] of [
    ['because nodes would mount nothing', told(known(false), 'unknown')],
    ['because nodes cannot mount images', told(known(true), false)],
    [
      'because it cannot be found out for long whether they can',
      { ...told(known(true)), imageVolumes: { state: 'failed', why: 'no', lasting: true } } as Facts<MLModelFacts>,
    ],
  ] as const)
    test(why, () => {
      equal(plan(v1, seen(), facts), downloading);
      equal(look(v1, seen(), { facts }).status.weightsPath, 'Claim');
    });

  test('gets a volume of its own size, and keeps it', () => {
    const facts = told(known(false));
    const size = (decided: ReturnType<typeof look>) =>
      wantedOf<PersistentVolumeClaim>(decided, 'PersistentVolumeClaim')[0]?.spec.resources?.requests?.storage;
    equal(size(look(v1, seen(), { facts })), '4Gi');
    equal(size(look(image({ storageSize: '9Gi' }), seen(), { facts })), '9Gi');
    const copied = { ...found, mounted: false };
    const held = claim(v1, { found: copied });
    held.spec.resources = { requests: { storage: '7Gi' } };
    equal(size(look(v1, seen(revision(v1, 1, copied), held))), '7Gi');
  });

  test('is fetched by its digest, with what opens the registry', () => {
    const locked = image({ imagePullSecrets: [{ name: 'a' }, { name: 'b' }], credentials: 'mine' });
    const copied = { ...found, mounted: false };
    const world = seen(revision(locked, 1, copied), claim(locked, { found: copied }));
    const [job] = wantedOf<Job>(look(locked, world), 'Job');
    const { containers, volumes } = job?.spec.template.spec ?? { containers: [] };
    deepEqual(containers[0]?.args?.slice(3), [
      '--credentials=/credentials',
      '--pull-secrets=/pull-secrets',
      '--',
      `oci://${pinned}`,
    ]);
    deepEqual(
      (volumes as { name: string }[]).map(({ name }) => name),
      ['weights', 'credentials', 'pull-secrets', 'scratch'],
    );
  });
});

describe('while nobody knows what an image is', () => {
  test('nothing is cut, and what serves goes on', () => {
    equal(plan(v1, seen(), told({ state: 'pending' })), '');
    const former = aModel();
    const world = seen(revision(former), claim(former, { digest: 'sha256:0' }), deployment(former), serverPod(former));
    const after = look(v1, world, { facts: told({ state: 'pending' }) });
    equal(plan(v1, world, told({ state: 'pending' })), '+Deployment +Service =Revision =Claim');
    equal(after.status.phase, 'Pending');
    equal(after.status.weightsPath, undefined);
    match(after.status.message ?? '', /is being looked at; revision \w+ serves until then/);
    equal(says(after, 'DataLost'), undefined);
  });

  test('a registry that does not answer is said at once, and stalls when it lasts', () => {
    const failed = { state: 'failed', why: 'connection refused' } as const;
    const [first, later] = [failed, { ...failed, lasting: true } as const].map((fact) =>
      look(v1, seen(), { facts: told(fact) }),
    );
    match(first?.status.message ?? '', /models\/iris:1 cannot be looked at: connection refused/);
    deepEqual([says(first ?? never, 'Reconciling'), says(first ?? never, 'Stalled')], ['True', 'False']);
    deepEqual([says(later ?? never, 'Reconciling'), says(later ?? never, 'Stalled')], ['False', 'True']);
  });

  test('a refusal stalls, with what to do', () => {
    for (const verdict of ['SourceNotFound', 'SourceTLSError', 'EgressDenied', 'SourceUnauthorized'] as const) {
      const after = look(v1, seen(), { facts: told(refused(verdict)) });
      deepEqual([conditionOf(after.status, 'Stalled')?.reason, after.want.length], [verdict, 0]);
    }
    match(look(v1, seen(), { facts: told(refused('SourceUnauthorized')) }).status.message ?? '', /imagePullSecrets/);
    match(look(v1, seen(), { facts: told(refused('SourceNotFound')) }).status.message ?? '', /looked for again.*retry/);
  });
});

const never = look(v1, seen());

describe('a private image', () => {
  const locked = image({ imagePullSecrets: [{ name: 'pull' }] });
  const asks = told(refused('SourceUnauthorized'));
  const done = { result: 'done', digest, bytes: 5, mountable: true } as const;
  const pending = told({ state: 'pending' });

  test('is looked at by a Job with the Secrets that the model names', () => {
    equal(plan(locked, seen(), asks), '!Job');
    match(look(locked, seen(), { facts: asks }).status.message ?? '', /may want to know who asks/);
    const [job] = wantedOf<Job>(look(locked, seen(), { facts: asks }), 'Job');
    ok(job);
    match(job.metadata.name, /^iris-inspect-[0-9a-f]{10}$/);
    const [volume] = job.spec.template.spec['volumes'] as object[];
    const items = [
      { key: '.dockerconfigjson', path: '0.json' },
      { key: '.dockercfg', path: '0.dockercfg' },
    ];
    deepEqual(volume, {
      name: 'pull-secrets',
      projected: { sources: [{ secret: { name: 'pull', items, optional: true } }] },
    });
  });

  test('may be hidden from the operator, and is looked at by the Job then, too', () => {
    for (const spec of [locked.spec, { credentials: 'mine' }])
      equal(plan(image(spec), seen(), told(refused('SourceNotFound'))), '!Job');
  });

  test('that is pushed late is looked for again: the Job that was refused is removed', () => {
    const word = { result: 'verdict', verdict: 'SourceNotFound', message: '404' } as const;
    const refusal = look(locked, seen(inspection(locked, 'Failed'), inspectPod(locked, word)), { facts: pending });
    match(refusal.status.message ?? '', /^404; it is looked for again/);
    equal(wantedOf<Job>(refusal, 'Job')[0]?.spec['ttlSecondsAfterFinished'], 300);
  });

  test('is cut from the last word of the Job, which is not wanted any more then', () => {
    const world = seen(inspection(locked, 'Complete'), inspectPod(locked, done));
    equal(plan(locked, world, { ...pending, imageVolumes: { state: 'known', value: true } }), serving);
  });

  test('waits for its Job also after the operator was started anew', () => {
    equal(plan(locked, seen(inspection(locked), inspectPod(locked)), pending), '!Job');
  });

  test('keeps the verdict of the Job, and asks anew when a person mends something', () => {
    const word = { result: 'verdict', verdict: 'SourceUnauthorized', message: 'wrong password' } as const;
    const world = seen(inspection(locked, 'Failed'), inspectPod(locked, word));
    equal(plan(locked, world, pending), '!Job');
    equal(reason(locked, world, pending), 'SourceUnauthorized');
    const mended = image({ imagePullSecrets: [{ name: 'pull' }] }, { annotations: { [mark.retry]: '1' } });
    const [again] = wantedOf<Job>(look(mended, world, { facts: asks }), 'Job');
    ok(again && again.metadata.name !== inspection(locked).metadata.name);
  });

  test('is asked about again when the Job ended and its pod is gone', () => {
    const world = seen(inspection(locked, 'Complete'));
    equal(plan(locked, world, pending), '!Job', 'its pod may only be late');
    equal(plan(locked, world, { ...pending, endedPods: { state: 'known', value: [] } }), '');
  });

  test('tells what holds its Job up', () => {
    const world = seen(inspection(locked), leaving(inspectPod(locked)));
    equal(conditionOf(look(locked, world, { facts: pending }).status, 'Reconciling')?.status, 'True');
    const word = { result: 'fault', message: 'connection reset' } as const;
    const failing = seen(inspection(locked), inspectPod(locked, word));
    equal(reason(locked, failing, pending), 'InspectionRetrying');
  });

  test('that nodes have no Secret for is downloaded', () => {
    const own = image({ credentials: 'mine' });
    equal(plan(own, seen(), asks), '!Job');
    const world = seen(inspection(own, 'Complete'), inspectPod(own, done));
    equal(plan(own, world, { ...pending, imageVolumes: { state: 'known', value: true } }), downloading);
  });

  test('behind a certificate that only its credentials tell is looked at by a Job, too', () => {
    equal(plan(image({ credentials: 'mine' }), seen(), told(refused('SourceTLSError'))), '!Job');
    equal(plan(locked, seen(), told(refused('SourceTLSError'))), '');
  });
});
