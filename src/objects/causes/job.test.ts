import { deepEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Job, jobCause, type Pod } from '../index.ts';
import { evicted, jobPodDone, jobPodFailed, jobPodOutOfMemory, jobPodRunning } from './fixtures/ended.ts';
import * as jobs from './fixtures/jobs.ts';
import { imageMissing } from './fixtures/starting.ts';

const attempt = (pod: Pod, name: string, minute: number): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, name, creationTimestamp: `2026-11-04T09:0${minute}:00Z` },
});

const killed = 'was killed for lack of memory, exit code 137 SIGKILL: it needs more than its limit of 512Mi';

describe('jobCause', () => {
  const rows: { name: string; job: Job; pods: Pod[]; is: [reason: string, says: string] | [] }[] = [
    { name: 'a Job without a pod yet', job: jobs.jobRunning, pods: [], is: [] },
    { name: 'a Job at work', job: jobs.jobRunning, pods: [jobPodRunning], is: [] },
    {
      name: 'a Job at work again after a failed attempt',
      job: jobs.jobRunning,
      pods: [attempt(jobPodOutOfMemory, 'try-1', 1), attempt(jobPodRunning, 'try-2', 2)],
      is: [],
    },
    {
      name: 'a Job that waits before it tries again',
      job: jobs.jobRetrying,
      pods: [attempt(jobPodOutOfMemory, 'try-1', 1)],
      is: ['OutOfMemory', `Pod try-1, container "download" ${killed} (raise resources.limits.memory)`],
    },
    {
      name: 'a Job whose attempts were taken away',
      job: jobs.jobRetrying,
      pods: [attempt(jobPodOutOfMemory, 'try-1', 1), attempt(evicted, 'try-2', 2)],
      is: [
        'Evicted',
        'Pod try-2 was evicted from node worker-1: The node was low on resource: ephemeral-storage. Threshold quantity: 2146223340, available: 1883424Ki. Container server was using 3032444Ki, request is 0, has larger consumption of ephemeral-storage (set a request, so that its node keeps room for it)',
      ],
    },
    {
      name: 'a Job whose pod cannot start',
      job: jobs.jobRunning,
      pods: [attempt(jobPodFailed, 'try-1', 1), attempt(imageMissing, 'try-2', 2)],
      is: [
        'ImageUnavailable',
        'Pod try-2, container "server" cannot get an image: failed to pull and unpack image "registry.example.com/servers/onnx:1.4.0": failed to resolve image: registry.example.com/servers/onnx:1.4.0: not found (check the name and the tag of the image)',
      ],
    },
    {
      name: 'a failed Job tells its last attempt',
      job: jobs.jobOutOfTries,
      pods: [attempt(jobPodFailed, 'try-1', 1), attempt(jobPodOutOfMemory, 'try-2', 2)],
      is: [
        'OutOfMemory',
        `Job iris-download failed (Job has reached the specified backoff limit): Pod try-2, container "download" ${killed} (raise resources.limits.memory)`,
      ],
    },
    {
      name: 'a failed Job whose pods are gone',
      job: jobs.jobOutOfTries,
      pods: [],
      is: ['BackoffLimitExceeded', 'Job iris-download failed: Job has reached the specified backoff limit'],
    },
    {
      name: 'a Job that took too long',
      job: jobs.jobOvertime,
      pods: [],
      is: ['DeadlineExceeded', 'Job iris-download failed: Job was active longer than specified deadline'],
    },
    {
      name: 'a Job that took longer than it was given',
      job: jobs.jobStopped,
      pods: [],
      is: ['DeadlineExceeded', 'Job iris-download failed: it took too long, and was stopped after 1500 minutes'],
    },
    {
      name: 'a Job whose attempts took longer than it was given',
      job: jobs.jobStopped,
      pods: [attempt(jobPodOutOfMemory, 'try-1', 1)],
      is: [
        'OutOfMemory',
        `Job iris-download failed (it took too long, and was stopped after 1500 minutes): Pod try-1, container "download" ${killed} (raise resources.limits.memory)`,
      ],
    },
    {
      name: 'a Job that is about to fail',
      job: jobs.jobFailing,
      pods: [],
      is: ['DeadlineExceeded', 'Job iris-download failed: Job was active longer than specified deadline'],
    },
    {
      name: 'a Job that failed by its own policy',
      job: jobs.jobByPolicy,
      pods: [],
      is: [
        'JobFailed',
        'Job iris-download failed: Container download for pod default/fetch-1 failed with exit code 42 matching FailJob rule at index 0',
      ],
    },
    { name: 'a complete Job, whatever failed before', job: jobs.jobComplete, pods: [jobPodFailed, jobPodDone], is: [] },
  ];
  for (const { name, job, pods, is } of rows)
    test(name, () => {
      for (const order of [pods, pods.toReversed()]) {
        const cause = jobCause(job, order);
        deepEqual(cause ? [cause.reason, cause.message] : [], is);
      }
    });
});
