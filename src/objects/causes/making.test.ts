import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Deployment, deploymentCause, makerEventCause, type KubeEvent } from '../index.ts';
import { jobRunning } from './fixtures/jobs.ts';

const quota =
  'exceeded quota: small, requested: pods=1,requests.cpu=200m, used: pods=1,requests.cpu=100m, limited: requests.cpu=150m';

const deployment = (message: string, reason = 'FailedCreate', status: 'True' | 'False' = 'True'): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'iris-server' },
  spec: { selector: { matchLabels: {} }, template: { spec: { containers: [] } } },
  status: { conditions: [{ type: 'ReplicaFailure', status, reason, message }] },
});

const event = (message: string, name = 'one', reason = 'FailedCreate'): KubeEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name },
  type: 'Warning',
  reason,
  message,
  involvedObject: {
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: jobRunning.metadata.name,
    uid: jobRunning.metadata.uid ?? '',
  },
});

const forbidden = (words: string, pod = 'iris-server-5f7-x2') => `pods "${pod}" is forbidden: ${words}`;

describe('a Deployment that makes no pods', () => {
  const rows: { name: string; words: string; reason: string; says: string }[] = [
    {
      name: 'for a quota',
      words: forbidden(quota),
      reason: 'QuotaExceeded',
      says: `cannot make a pod: ${quota} (raise the quota, or ask for less)`,
    },
    {
      name: 'for a quota that asks for limits',
      words: forbidden('failed quota: small: must specify limits.memory for: server'),
      reason: 'QuotaExceeded',
      says: 'cannot make a pod: failed quota: small: must specify limits.memory for: server (set resources, as the quota asks)',
    },
    {
      name: 'for a policy',
      words: forbidden("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not here"),
      reason: 'PodRefused',
      says: "cannot make a pod: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not here",
    },
    {
      name: 'for a profile',
      words: forbidden('violates PodSecurity "restricted:latest": unrestricted capabilities'),
      reason: 'PodRefused',
      says: 'cannot make a pod: violates PodSecurity "restricted:latest": unrestricted capabilities',
    },
    {
      name: 'for an account',
      words: forbidden('error looking up service account shop/iris: serviceaccount "iris" not found'),
      reason: 'PodRefused',
      says: 'cannot make a pod: error looking up service account shop/iris: serviceaccount "iris" not found (create it, or name another in serviceAccountName)',
    },
  ];
  for (const { name, words, reason, says } of rows)
    test(name, () =>
      deepEqual(deploymentCause(deployment(words)), {
        reason,
        message: `Deployment iris-server ${says}`,
        object: 'Deployment iris-server',
      }),
    );

  test('is told from one that does', () => {
    equal(deploymentCause(undefined), undefined);
    equal(deploymentCause(deployment(forbidden(quota), 'FailedCreate', 'False')), undefined);
    equal(deploymentCause(deployment('no', 'FailedDelete')), undefined);
  });
});

describe('a Job that makes no pod', () => {
  const said = (...events: KubeEvent[]) => makerEventCause(jobRunning, events)?.message;

  test('says why, whatever the pod would have been called', () => {
    const [one, other] = ['x-1', 'x-2'].map((pod) => said(event(`Error creating: ${forbidden(quota, pod)}`)));
    match(one ?? '', /^Job iris-download cannot make a pod: exceeded quota: small/);
    equal(one, other);
  });

  test('is told from one that does', () => {
    equal(said(), undefined);
    equal(said(event('Created pod: x', 'one', 'SuccessfulCreate')), undefined);
  });

  test('is refused no longer when it has made one since; in the same second nobody knows which was first', () => {
    const at = (second: number, one: KubeEvent) => ({ ...one, lastTimestamp: `2026-01-01T00:00:0${second}Z` });
    const refused = at(5, event(forbidden(quota)));
    const made = (second: number) => at(second, event('Created pod: x', 'two', 'SuccessfulCreate'));
    equal(said(made(6), refused), undefined);
    for (const second of [4, 5]) match(said(refused, made(second)) ?? '', /exceeded quota/, `${second}`);
    match(said(made(6), refused, at(7, event(forbidden(quota), 'three'))) ?? '', /exceeded quota/);
  });
});
