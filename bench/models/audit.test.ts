// What is counted of an audit log: each request once, watches only as the views that they begin with, and a status that says
// the same again as a duplicate.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { countLines, type Line, sumOf } from './audit.ts';

const line = (verb: string, resource: string, more: Partial<Line> = {}): Line => ({
  stage: verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete',
  verb,
  requestURI: `/apis/${resource}`,
  stageTimestamp: '2026-01-01T00:00:00.000000Z',
  objectRef: { resource, name: 'm1' },
  ...more,
});

const told = (phase: string, at: string): Line =>
  line('patch', 'mlmodels', {
    objectRef: { resource: 'mlmodels', subresource: 'status', name: 'm1' },
    requestObject: { status: { phase, conditions: [{ type: 'Ready', lastTransitionTime: at }] } },
  });

test('a request is counted once, by verb and resource, and the lease apart', () => {
  const { requests, leases } = countLines([line('create', 'jobs'), line('create', 'jobs'), line('update', 'leases')]);
  deepEqual(requests, { 'create jobs': 2 });
  equal(leases, 1);
  equal(sumOf(requests), 2);
});

test('a watch is no request, however it ends, but the view that it begins with is one of its kind', () => {
  const initial = { requestURI: '/apis/jobs?watch=true&sendInitialEvents=true' };
  const lines = [
    line('watch', 'jobs', initial),
    line('watch', 'jobs', { ...initial, stage: 'ResponseComplete' }),
    line('watch', 'jobs', { requestURI: '/apis/jobs?watch=true&resourceVersion=7' }),
    line('list', 'pods'),
    line('list', 'pods', { requestURI: '/apis/pods?continue=abc' }),
  ];
  const { requests, views } = countLines(lines);
  deepEqual(requests, { 'list pods': 2 });
  deepEqual(views, { jobs: 1, pods: 1 });
});

test('a status that differs only in its times is a duplicate', () => {
  equal(countLines([told('Pending', '1'), told('Pending', '2'), told('Ready', '2')]).duplicates, 1);
  equal(countLines([told('Pending', '1'), told('Ready', '2'), told('Pending', '3')]).duplicates, 0);
});
