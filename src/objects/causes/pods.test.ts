import { equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { causeOfPods, notReadyCause, type Pod } from '../index.ts';
import * as ended from './fixtures/ended.ts';
import { aPod, image, running, serving } from './fixtures/parts.ts';
import * as starting from './fixtures/starting.ts';

const { crashLoop } = ended;
const server = 'Pod iris-a, container "server"';

describe('of several pods', () => {
  const named = (pod: Pod, name: string, creationTimestamp = '2026-11-04T09:00:00Z'): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, name, creationTimestamp },
  });
  const rows: { name: string; pods: Pod[]; speaks: string | undefined }[] = [
    { name: 'none says nothing', pods: [], speaks: undefined },
    { name: 'healthy ones say nothing', pods: [ended.ready, starting.creating], speaks: undefined },
    {
      name: 'the missing image counts more than the missing node',
      pods: [named(starting.noGPU, 'a'), named(starting.imageMissing, 'b')],
      speaks: 'Pod b',
    },
    {
      name: 'a crash counts more than no room for another pod',
      pods: [named(starting.noGPU, 'a'), named(crashLoop(ended.crash), 'b')],
      speaks: 'Pod b',
    },
    {
      name: 'the pod that is there counts more than the one that was evicted',
      pods: [named(ended.evicted, 'a'), named(starting.noGPU, 'b')],
      speaks: 'Pod b',
    },
    {
      name: 'the pod that is there counts more than the one that leaves',
      pods: [named(ended.drained, 'a'), named(starting.noGPU, 'b'), named(ended.nodeSilent, 'c')],
      speaks: 'Pod b',
    },
    {
      name: 'the pod that lost its node counts more than the one that leaves',
      pods: [named(ended.drained, 'a'), named(ended.nodeSilent, 'b')],
      speaks: 'Pod b',
    },
    {
      name: 'the evicted one speaks while its successor starts',
      pods: [named(ended.evicted, 'a'), named(starting.creating, 'b')],
      speaks: 'Pod a',
    },
    {
      name: 'the one with words counts more than the one without',
      pods: [named(starting.imageBackOffBare, 'a'), named(starting.imageMissing, 'b')],
      speaks: 'Pod b',
    },
    {
      name: 'the newest of equals',
      pods: [
        named(starting.noGPU, 'a'),
        named(starting.noGPU, 'b', '2026-11-04T10:00:00Z'),
        named(starting.noGPU, 'c'),
      ],
      speaks: 'Pod b',
    },
    {
      name: 'the first name of equals that are equally old',
      pods: [named(starting.noGPU, 'b'), named(starting.noGPU, 'a')],
      speaks: 'Pod a',
    },
  ];
  for (const { name, pods, speaks } of rows) test(name, () => equal(causeOfPods(pods)?.object, speaks));
});

describe('notReadyCause', () => {
  const sidecar = { name: 'proxy', image, restartPolicy: 'Always' };
  const rows: { name: string; pod: Pod; says: string | undefined }[] = [
    {
      name: 'held back',
      pod: starting.gated,
      says: 'Pod iris-a waits for a node: Scheduling is blocked due to non-empty scheduling gates',
    },
    {
      name: 'not seen by the scheduler',
      pod: { ...aPod('iris-a', { phase: 'Pending' }), spec: { containers: [] } },
      says: 'Pod iris-a waits for a node: no reason is given',
    },
    {
      name: 'being created',
      pod: starting.creating,
      says: `${server} waits to be started: ContainerCreating (kubectl describe pod iris-a tells its events)`,
    },
    {
      name: 'an init container at work',
      pod: {
        ...aPod('iris-a', { phase: 'Pending', initContainerStatuses: [running('fetch', { ready: false })] }),
        spec: { containers: [], initContainers: [{ name: 'fetch', image }], nodeName: 'worker-1' },
      },
      says: 'Pod iris-a, container "fetch" has not finished, and the others wait for it',
    },
    {
      name: 'a sidecar that is not ready',
      pod: {
        ...aPod('iris-a', { phase: 'Pending', initContainerStatuses: [running('proxy', { ready: false })] }),
        spec: { containers: [], initContainers: [sidecar], nodeName: 'worker-1' },
      },
      says: 'Pod iris-a, container "proxy" runs, but its readiness probe does not succeed',
    },
    { name: 'not started', pod: ended.notYetStarted, says: `${server} runs, but its startup probe has not succeeded` },
    { name: 'not ready', pod: ended.notYetReady, says: `${server} runs, but its readiness probe does not succeed` },
    {
      name: 'a gate is closed',
      pod: aPod('iris-a', {
        ...serving([running('server')]),
        conditions: [
          { type: 'Ready', status: 'False', message: 'the status of pod readiness gate "lb" is not "True"' },
        ],
      }),
      says: 'Pod iris-a is not ready: the status of pod readiness gate "lb" is not "True"',
    },
    { name: 'ready', pod: ended.ready, says: undefined },
    { name: 'over', pod: ended.evicted, says: undefined },
    { name: 'leaving', pod: ended.toldToGo, says: undefined },
  ];
  for (const { name, pod, says } of rows) test(name, () => equal(notReadyCause([pod])?.message, says));
});
