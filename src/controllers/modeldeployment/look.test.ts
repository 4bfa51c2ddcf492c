// The look at an image that is not there yet, or not for everybody: it goes on by itself, nothing is written meanwhile, and what
// holds up its Job is told.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aDeployment,
  answered,
  digest,
  look,
  noFacts,
  resolution,
  resolvePod,
} from '../../../tests/kit/modeldeployment.ts';
import { line, wantedOf } from '../../../tests/kit/plans.ts';
import { seen } from '../../../tests/kit/world.ts';
import type { Reader } from '../../kube/define.ts';
import { conditionOf, type Job, type KubeEvent, type Pod } from '../../objects/index.ts';
import { gather } from './facts.ts';

const object = aDeployment();
const withLogin = aDeployment({ imagePullSecrets: [{ name: 'login' }] });
const absent = { refused: 'SourceNotFound', message: 'registry.example/iris:1 is not there' } as const;

describe('an image that is pushed after it was named', () => {
  test('is looked for again, and served when it is there', () => {
    const { manifest } = gather;
    const again = [manifest.isFinal?.(absent), manifest.freshFor, manifest.slowsTo];
    deepEqual(again, [false, 60_000, 600_000], 'a refusal is asked again');
    const before = look(object, seen(), answered(absent));
    equal(before.status.phase, 'Failed');
    match(before.status.message ?? '', /is not there; it is looked for again .* baton\.dev\/retry$/);
    equal(manifest.isFinal?.({ digest }), true, 'what was found is not');
    equal(look(object, seen(), answered({ digest })).want.map(line).join(' '), '!Revision +Deployment +Service');
  });

  test('is looked for again by another Job where only that sees it', () => {
    const { refused: verdict, message } = absent;
    const world = seen(resolution(withLogin, 'Failed'), resolvePod(withLogin, { result: 'verdict', verdict, message }));
    const refusal = look(withLogin, world);
    const { status, want } = refusal;
    match(status.message ?? '', /is not there; it is looked for again .* baton\.dev\/retry$/);
    deepEqual([conditionOf(status, 'Stalled')?.reason, want.map(line)], ['SourceNotFound', ['!Job']]);
    const [job] = wantedOf<Job>(refusal, 'Job');
    ok(Number(job?.spec['ttlSecondsAfterFinished']) <= 600, 'it is removed, and then the look begins anew');
  });
});

test('the pod of the Job that does not start is asked about, and told', () => {
  const made = resolvePod(withLogin);
  const pod: Pod = {
    ...made,
    metadata: { ...made.metadata, uid: 'uid-pod' },
    spec: { ...made.spec, nodeName: 'node-1' },
    status: { phase: 'Pending' },
  };
  const world = seen(resolution(withLogin), pod);
  deepEqual(gather.podEvents.inputs(withLogin, world), { namespace: 'shop', uid: 'uid-pod' });
  const words = 'Failed to create pod sandbox: no IP addresses';
  const event: KubeEvent = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'one' },
    type: 'Warning',
    reason: 'FailedCreatePodSandBox',
    message: words,
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: 'uid-pod' },
  };
  const { status } = look(withLogin, world, { ...noFacts, podEvents: { state: 'known', value: [event] } });
  deepEqual([status.phase, conditionOf(status, 'Ready')?.reason], ['Processing', 'ContainerCannotRun']);
  match(status.message ?? '', /no IP addresses/);
});

test('of an image only the digest is asked, by the operator and by the Job', async () => {
  const lookAt = () => Promise.reject(new Error('not asked here'));
  const registry = { lookAt, digestOf: async (image: string) => ({ digest: `${digest} of ${image}` }) };
  const tools = { kube: {} as Reader, clients: { registry }, signal: new AbortController().signal };
  const answer = await gather.manifest.fetch({ image: 'registry.example/iris:1', attempt: '' }, tools);
  deepEqual(answer, { digest: `${digest} of registry.example/iris:1` });
  const [job] = wantedOf<Job>(look(withLogin, seen(), answered(absent)), 'Job');
  const args = job?.spec.template.spec.containers[0]?.args ?? [];
  ok(args.includes('--only-digest'), args.join(' '));
  const told = seen(resolution(withLogin, 'Complete'), resolvePod(withLogin, { result: 'done', digest, bytes: 0 }));
  equal(look(withLogin, told).status.digest, digest);
});

test('a registry may hide from the operator what it shows to those whom it knows', () => {
  equal(look(withLogin, seen(), answered(absent)).want.map(line).join(' '), '!Job');
});
