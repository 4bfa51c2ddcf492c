import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { causeOfPods, causeReasons, notReadyCause, type Pod, podCause } from '../index.ts';
import * as ended from './fixtures/ended.ts';
import * as starting from './fixtures/starting.ts';

const isPod = (value: unknown): value is Pod => typeof value === 'object' && value !== null && 'spec' in value;
const known: readonly Pod[] = [
  ...[...Object.values(starting), ...Object.values(ended)].filter(isPod),
  ...[ended.crash, ended.silentCrash, ended.outOfMemory, ended.illegalInstruction].map((end) => ended.crashLoop(end)),
];
const healthy = known.filter((pod) => podCause(pod) === undefined);

/** Some of the known pods, with names and ages of their own; ages are often equal. */
const crowd = (from: readonly Pod[]) =>
  fc
    .array(fc.record({ pod: fc.constantFrom(...from), minute: fc.integer({ min: 10, max: 13 }) }), { maxLength: 8 })
    .map((some) => some.map(({ pod, minute }, index) => renamed(pod, `iris-${index}`, `2026-11-04T09:${minute}:00Z`)));

const renamed = (pod: Pod, name: string, creationTimestamp: string): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, name, creationTimestamp },
});

const shuffled = (pods: readonly Pod[]) =>
  fc.shuffledSubarray([...pods], { minLength: pods.length, maxLength: pods.length });

describe('whatever pods there are', () => {
  test('their order never changes the cause', () => {
    const two = crowd(known).chain((pods) => fc.tuple(fc.constant(pods), shuffled(pods)));
    fc.assert(
      fc.property(two, ([pods, other]) => {
        deepEqual(causeOfPods(pods), causeOfPods(other));
        deepEqual(notReadyCause(pods), notReadyCause(other));
      }),
    );
  });

  test('healthy pods beside them never change the cause', () => {
    fc.assert(
      fc.property(crowd(known), fc.array(fc.constantFrom(...healthy)), (pods, more) =>
        deepEqual(causeOfPods(pods), causeOfPods([...more, ...pods])),
      ),
    );
  });

  test('the cause is that of one of them', () => {
    fc.assert(
      fc.property(crowd(known), (pods) => {
        const cause = causeOfPods(pods);
        const single = pods.map(podCause).filter((one) => one !== undefined);
        equal(cause === undefined, single.length === 0);
        if (cause) ok(single.some((one) => JSON.stringify(one) === JSON.stringify(cause)));
      }),
    );
  });
});

test('a day later the same world gives the same words', () => {
  const aDayLater = (pod: Pod): Pod =>
    JSON.parse(
      JSON.stringify(pod, (key, value: unknown) =>
        typeof value === 'string' && /(At|Time|Timestamp)$/.test(key) && value !== ''
          ? new Date(Date.parse(value) + 86_400_000).toISOString().replace('.000Z', 'Z')
          : value,
      ),
    ) as Pod;
  for (const pod of known) deepEqual(podCause(aDayLater(pod)), podCause(pod));
});

// Statuses that nobody has thought of: every field may be missing, every text may be anything.
const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3000 }),
  fc.lorem({ maxCount: 400 }),
  fc.constantFrom('', 'Evicted', 'OOMKilled', 'StartError', 'ErrImagePull', 'CrashLoopBackOff', 'exec format error'),
);
const time = fc.constantFrom('2026-11-04T09:00:00Z', '2026-11-04T10:00:00Z', 'soon');
const state = fc.oneof(
  fc.record({ waiting: fc.record({ reason: words, message: words }, { requiredKeys: [] }) }),
  fc.record({ running: fc.record({ startedAt: time }, { requiredKeys: [] }) }),
  fc.record({
    terminated: fc.record(
      { exitCode: fc.integer({ min: 0, max: 255 }), reason: words, message: words, finishedAt: time },
      { requiredKeys: ['exitCode'] },
    ),
  }),
);
const container = fc.record(
  { name: fc.constantFrom('server', 'proxy'), ready: fc.boolean(), restartCount: fc.nat(9), state, lastState: state },
  { requiredKeys: ['name', 'ready', 'restartCount'] },
);
const condition = fc.record(
  {
    type: fc.constantFrom('Ready', 'ContainersReady', 'PodScheduled', 'DisruptionTarget'),
    status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
    reason: words,
    message: words,
    lastTransitionTime: time,
  },
  { requiredKeys: ['type', 'status'] },
);
const status = fc.record(
  {
    phase: fc.constantFrom('Pending', 'Running', 'Failed', 'Unknown'),
    reason: words,
    message: words,
    conditions: fc.array(condition, { maxLength: 5 }),
    containerStatuses: fc.array(container, { maxLength: 3 }),
    initContainerStatuses: fc.array(container, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

test('whatever a status says, the cause is one bounded line with a known reason', () => {
  fc.assert(
    fc.property(status, (anything) => {
      const pod: Pod = { ...ended.ready, status: anything };
      for (const cause of [podCause(pod), notReadyCause([pod])]) {
        if (!cause) continue;
        ok(causeReasons.some((reason) => reason === cause.reason));
        ok(cause.message.length < 1500 && !/\p{Cc}/u.test(cause.message) && cause.message.isWellFormed());
      }
    }),
    { numRuns: 1000 },
  );
});
