import { equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Condition, Deployment, type Job, jobResult, rolledOut } from './index.ts';

type Status = NonNullable<Deployment['status']>;

const deployment = (replicas: number | undefined, status: Status | undefined): Deployment => ({
  apiVersion: Deployment.apiVersion,
  kind: Deployment.kind,
  metadata: { name: 'web', generation: 3 },
  spec: {
    ...(replicas === undefined ? {} : { replicas }),
    selector: { matchLabels: {} },
    template: { spec: { containers: [] } },
  },
  ...(status ? { status } : {}),
});

const all = (count: number): Status => ({
  observedGeneration: 3,
  replicas: count,
  updatedReplicas: count,
  availableReplicas: count,
});

describe('rolledOut', () => {
  const rows: { name: string; of: Deployment | undefined; is: boolean }[] = [
    { name: 'no Deployment', of: undefined, is: false },
    { name: 'a Deployment that nobody has looked at', of: deployment(2, undefined), is: false },
    { name: 'all replicas new and available', of: deployment(2, all(2)), is: true },
    { name: 'no number asked for means one', of: deployment(undefined, all(1)), is: true },
    { name: 'no number asked for is not two', of: deployment(undefined, all(2)), is: false },
    { name: 'scaled to zero, counts left out', of: deployment(0, { observedGeneration: 3 }), is: true },
    { name: 'counts of an older generation', of: deployment(2, { ...all(2), observedGeneration: 2 }), is: false },
    { name: 'an old pod is still there', of: deployment(2, { ...all(2), replicas: 3 }), is: false },
    { name: 'a pod is not new yet', of: deployment(2, { ...all(2), updatedReplicas: 1 }), is: false },
    { name: 'a pod is not available', of: deployment(2, { ...all(2), availableReplicas: 1 }), is: false },
    { name: 'scaling down is not done', of: deployment(1, all(2)), is: false },
    { name: 'only ready, not available', of: deployment(1, { ...all(0), readyReplicas: 1 }), is: false },
  ];
  for (const row of rows) test(`${row.name}: ${row.is ? 'yes' : 'no'}`, () => equal(rolledOut(row.of), row.is));
});

const condition = (type: string, status: Condition['status']): Condition => ({ type, status, reason: '', message: '' });
const job = (status?: Job['status']): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'fetch' },
  spec: { template: { spec: { containers: [] } } },
  ...(status ? { status } : {}),
});

describe('jobResult', () => {
  const rows: { name: string; of: Job | undefined; is: ReturnType<typeof jobResult> }[] = [
    { name: 'no Job', of: undefined, is: 'absent' },
    { name: 'a Job that nobody has looked at', of: job(), is: 'running' },
    { name: 'failed pods with tries left', of: job({ failed: 3 }), is: 'running' },
    { name: 'a succeeded pod before the condition says so', of: job({ succeeded: 1 }), is: 'running' },
    {
      name: 'criteria met, pods still ending',
      of: job({ conditions: [condition('SuccessCriteriaMet', 'True')] }),
      is: 'running',
    },
    {
      name: 'failing, pods still ending',
      of: job({ conditions: [condition('FailureTarget', 'True')] }),
      is: 'running',
    },
    { name: 'suspended', of: job({ conditions: [condition('Suspended', 'True')] }), is: 'running' },
    { name: 'complete', of: job({ conditions: [condition('Complete', 'True')] }), is: 'complete' },
    { name: 'complete denied', of: job({ conditions: [condition('Complete', 'False')] }), is: 'running' },
    {
      name: 'failed, after other conditions',
      of: job({ failed: 1, conditions: [condition('FailureTarget', 'True'), condition('Failed', 'True')] }),
      is: 'failed',
    },
  ];
  for (const row of rows) test(`${row.name}: ${row.is}`, () => equal(jobResult(row.of), row.is));
});
