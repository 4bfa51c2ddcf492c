// The look at an image that is not there yet, or not for everybody: it goes on by itself, and nothing is written meanwhile.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../../tests/kit/clock.ts';
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
import { Gatherer, type GatherOptions } from '../../kube/gather.ts';
import { conditionOf, type Job } from '../../objects/index.ts';
import type { Resolved } from '../../serving/index.ts';
import { gather } from './facts.ts';

const object = aDeployment();
const withLogin = aDeployment({ imagePullSecrets: [{ name: 'login' }] });
const absent = { refused: 'SourceNotFound', message: 'registry.example/iris:1 is not there' } as const;

describe('an image that is pushed after it was named', () => {
  test('is looked for again, and served when it is there', async () => {
    const clock = new FakeClock();
    let answer: Resolved = absent;
    let asked = 0;
    const woken: string[] = [];
    const registry = { digestOf: async () => (asked++, answer) };
    const { manifest } = gather;
    const gatherer = new Gatherer({
      facts: { manifest },
      tools: { kube: {} as GatherOptions['tools']['kube'], clients: { registry } },
      clock,
      random: () => 1,
      wake: (key) => woken.push(key),
      parallel: 1,
      backoff: { first: 1_000, most: 60_000 },
    });
    const facts = () => ({ ...noFacts, ...gatherer.facts('a', object, seen()) }) as typeof noFacts;
    facts();
    await settle();
    const before = look(object, seen(), facts());
    equal(before.status.phase, 'Failed');
    match(before.status.message ?? '', /is not there; it is looked for again .* baton\.dev\/retry$/);
    await clock.advance(60_000);
    deepEqual([asked, woken.length], [2, 1], 'the same answer is no news, and nothing is written');
    answer = { digest };
    await clock.advance(60_000);
    deepEqual([asked, woken.length], [3, 2]);
    equal(look(object, seen(), facts()).want.map(line).join(' '), '!Revision +Deployment +Service');
    equal(clock.timers, 0, 'what was found is not asked again');
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

test('of an image only the digest is asked, by the operator and by the Job', () => {
  const [job] = wantedOf<Job>(look(withLogin, seen(), answered(absent)), 'Job');
  const args = job?.spec.template.spec.containers[0]?.args ?? [];
  ok(args.includes('--only-digest'), args.join(' '));
  const told = seen(resolution(withLogin, 'Complete'), resolvePod(withLogin, { result: 'done', digest, bytes: 0 }));
  equal(look(withLogin, told).status.digest, digest);
});

test('a registry may hide from the operator what it shows to those whom it knows', () => {
  equal(look(withLogin, seen(), answered(absent)).want.map(line).join(' '), '!Job');
});
