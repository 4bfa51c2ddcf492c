// Nodes of which KMM's labels alone do not tell the truth: those that KMM leaves out, and those on which a consumer keeps what it
// would unload.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aTemplate, consumer, look, module, node, type Progress } from '../../../tests/kit/devicetemplate.ts';
import { says } from '../../../tests/kit/plans.ts';
import { seen } from '../../../tests/kit/world.ts';
import { conditionOf, type Module } from '../../objects/index.ts';
import { labelsOf } from './module.ts';

const lamp = aTemplate();

/** As many nodes as KMM finds and is done with. */
const counted = (count: number): NonNullable<Module['status']> => ({
  moduleLoader: { nodesMatchingSelectorNumber: count, availableNumber: count },
  devicePlugin: { availableNumber: count },
});

const done = (...names: string[]) => names.flatMap((name) => [node(lamp, name), consumer(lamp, name)]);

describe('a cordoned node', () => {
  const cordoned = { taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] };

  test('is left out as KMM leaves it out, whether it still has a consumer or not', () => {
    const aside = [node(lamp, 'd', { ...cordoned, progress: 'nothing' }), node(lamp, 'e', cordoned)];
    const world = seen(module(lamp, counted(3)), ...done('a', 'b', 'c'), ...aside, consumer(lamp, 'e'));
    const decision = look(lamp, world);
    deepEqual(decision.status.nodes, { matching: 3, loaded: 3, plugged: 3, ready: 3 });
    equal(['Ready', 'Reconciling', 'Stalled'].map((type) => says(decision, type)).join(), 'True,False,False');
  });
  test('that is the only one is told', () => {
    const { status } = look(lamp, seen(module(lamp), node(lamp, 'a', cordoned)));
    deepEqual([status.phase, conditionOf(status, 'Stalled')?.reason], ['Failed', 'NoMatchingNodes']);
    match(status.message ?? '', /a is cordoned; uncordon it, or name node\.kubernetes\.io\/unschedulable in tol/);
  });
  test('is meant where that is tolerated', () => {
    const tolerant = aTemplate({ tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] });
    equal(look(tolerant, seen(module(tolerant), node(tolerant, 'a', cordoned))).status.nodes?.matching, 1);
  });
});

describe('a kernel that an edit leaves without an image', () => {
  const mapped = aTemplate({ driver: { kernels: [{ kernel: '5.14.*', image: 'registry.example/driver:5' }] } });
  const after = (...kernels: string[]) => {
    const nodes = kernels.flatMap((kernel, index) => [
      node(mapped, `n${index}`, { kernel }),
      consumer(mapped, `n${index}`),
    ]);
    return look(mapped, seen(module(mapped), ...nodes));
  };

  test('is told, and its consumer, which still answers, does not count as ready', () => {
    const decision = after('6.1.0', '6.1.0', '5.14.0');
    const { status } = decision;
    deepEqual([status.phase, conditionOf(status, 'Stalled')?.reason], ['Failed', 'KernelNotMapped']);
    equal(status.nodes?.ready, 1);
    match(status.message ?? '', /^1 of 3 nodes are ready: n0 runs the kernel 6\.1\.0, for which/);
    match(conditionOf(status, 'Available')?.message ?? '', /^3 consumers are ready/);
  });
  test('is not missed on one node of several', () => {
    const decision = after('6.1.0', '5.14.0', '5.14.0');
    equal(['Ready', 'Reconciling', 'Stalled'].map((type) => says(decision, type)).join(), 'True,True,False');
    match(decision.status.message ?? '', /^2 of 3 nodes are ready: n0 runs the kernel/);
  });
  test('is not guessed before the node tells it', () => equal(after('').status.phase, 'Ready'));
});

describe('a KMM that does not tell versions', () => {
  const versioned = aTemplate({ driver: { version: '2' } });
  const { version } = labelsOf(versioned);
  const told = (progress: Progress, versionLabel?: string) => {
    const { foreign } = node(versioned, 'a', { progress });
    const { [version]: _, ...labels } = foreign.metadata.labels ?? {};
    const changed = { ...labels, ...(versionLabel !== undefined && { [version]: versionLabel }) };
    const one = { foreign: { ...foreign, metadata: { ...foreign.metadata, labels: changed } } };
    const { status } = look(versioned, seen(module(versioned), one));
    return [status.phase, conditionOf(status, 'Ready')?.reason, status.message] as const;
  };

  test('is told from one that is not done, or done with another version', () => {
    const [phase, reason, message = ''] = told('plugged');
    deepEqual([phase, reason], ['Loading', 'VersionUntold']);
    match(message, /a has module and plugin, and KMM does not tell of which version: .* KMM 2\.5 or newer$/);
    for (const [, other] of [told('nothing'), told('loaded'), told('plugged', '1')]) equal(other, 'ModuleNotLoaded');
  });
});
