// Whose place would do: see room.ts. The words are those of a real scheduler and a real quota.

import { equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, PodSpec } from '../objects/index.ts';
import { fitsQuota, wouldFit } from './room.ts';

const pod = (requests: Record<string, string>, rest: Partial<PodSpec> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'iris' },
  spec: { containers: [{ name: 'server', image: 'own:1', resources: { requests } }], ...rest },
});

const victims = 'preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod';
const unhelpful = '2 Preemption is not helpful for scheduling';
const small = { cpu: '100m', memory: '1Gi' };

describe('the place of an old server', () => {
  const [pool, tolerations] = [
    (name: string) => ({ nodeSelector: { pool: name } }),
    [{ key: 'gpu', operator: 'Exists' }],
  ];
  const elsewhere = "2 node(s) didn't match Pod's node affinity/selector";
  const tainted = '2 node(s) had untolerated taint {gpu: }';
  const cases: [name: string, expected: boolean, waiting: Pod, words: string, ...old: Pod[]][] = [
    [
      'does for the same amount',
      true,
      pod(small),
      `0/3 nodes are available: 3 Insufficient cpu. ${victims}.`,
      pod(small),
    ],
    [
      'does where nodes may hold only so many pods',
      true,
      pod({}),
      '0/1 nodes are available: 1 Too many pods.',
      pod({}),
    ],
    ['does not while there is none', false, pod(small), '0/1 nodes are available: 1 Insufficient cpu.'],
    ['does not where room is no trouble', false, pod(small), `0/3 nodes are available: 3 ${tainted}.`, pod(small)],
    [
      'does not leave a device that it never held',
      false,
      pod(small),
      `1 Insufficient nvidia.com/gpu. ${victims}.`,
      pod(small),
    ],
    [
      'leaves the device that it holds',
      true,
      pod(small),
      `1 Insufficient nvidia.com/gpu. ${victims}.`,
      pod({ 'nvidia.com/gpu': '1' }),
    ],
    [
      'does not leave all that is short',
      false,
      pod(small),
      '1 Insufficient memory, 2 Insufficient cpu.',
      pod({ cpu: '1' }),
    ],
    [
      'is not larger than a node',
      false,
      pod({ cpu: '1k' }),
      `3 Insufficient cpu. preemption: ${unhelpful}.`,
      pod(small),
    ],
    [
      'is on a node that is still asked for',
      true,
      pod(small, pool('a')),
      `1 Insufficient cpu, ${elsewhere}. ${victims}, ${unhelpful}.`,
      pod(small, pool('a')),
    ],
    [
      'may be on a node that is not asked for',
      false,
      pod(small, pool('b')),
      `1 Insufficient cpu, ${elsewhere}. ${victims}, ${unhelpful}.`,
      pod(small, pool('a')),
    ],
    [
      'does where every node is asked for',
      true,
      pod(small, pool('b')),
      `1 Insufficient cpu. ${victims}.`,
      pod(small, pool('a')),
    ],
    [
      'may be on a node whose taint is not tolerated any more',
      false,
      pod(small),
      `1 Insufficient cpu, ${tainted}. ${victims}, ${unhelpful}.`,
      pod(small, { tolerations }),
    ],
    [
      'is on a node whose taint is tolerated still',
      true,
      pod(small, { tolerations }),
      `1 Insufficient cpu, ${tainted}. ${victims}, ${unhelpful}.`,
      pod(small, { tolerations }),
    ],
  ];
  for (const [name, expected, waiting, words, ...old] of cases)
    test(name, () => equal(wouldFit(waiting, words, old), expected));
});

describe('a quota', () => {
  const words = (requested: string, limited: string) =>
    `pods "x" is forbidden: exceeded quota: small, requested: ${requested}, used: pods=1,requests.cpu=1, limited: ${limited}`;
  test('takes what is not more than it has at all', () => {
    equal(fitsQuota(words('pods=1,requests.cpu=1500m', 'pods=1,requests.cpu=2')), true);
    equal(fitsQuota(words('requests.cpu=2001m', 'requests.cpu=2')), false);
    equal(fitsQuota(words('pods=1,requests.memory=1Gi', 'pods=1,requests.memory=1000Mi')), false);
    equal(fitsQuota('in words that nobody knows'), true);
  });
});
