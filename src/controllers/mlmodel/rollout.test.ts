// How servers stand, how a revision takes over from another, and how long it may take.

import { equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aModel,
  claim,
  crashing,
  deployment,
  downloadPod,
  job,
  leaving,
  revision,
  serverPod,
  unschedulable,
} from '../../../tests/kit/mlmodel.ts';
import { look, now, says, servers } from '../../../tests/kit/plans.ts';
import { seen } from '../../../tests/kit/world.ts';
import { mark, type MLModel } from '../../api/index.ts';
import { conditionOf, type Deployment, type Job, kstatusOf, type KubeObject, type Pod } from '../../objects/index.ts';

const v1 = aModel();
const v2 = aModel({ modelURL: 'https://models.example/iris-2.onnx' });
const digest = 'sha256:0';
const both = [revision(v1), claim(v1, { digest }), revision(v2, 2), claim(v2, { digest })];
const seconds = (count: number) => new Date(now - count * 1_000).toISOString();

/** The Deployment half-way from one revision to the other: a new server beside an old one. */
const halfWay = (status: Partial<Deployment['status']> = {}, takeover = 'surge'): Deployment => {
  const object = deployment(v2, 1);
  const annotations = { ...object.metadata.annotations, [mark.rollout]: takeover };
  return {
    ...object,
    metadata: { ...object.metadata, annotations },
    status: { ...object.status, replicas: 2, updatedReplicas: 1, ...status },
  };
};

const waiting = (message: string, since: string): Pod['status'] => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: since }],
});

const takeover = (model: MLModel, ...world: KubeObject[]) =>
  servers(look(model, seen(...both, ...world)))?.metadata.annotations?.[mark.rollout];

describe('a takeover', () => {
  const crowded = (since: string) => serverPod(v2, waiting('0/1 nodes are available: 1 Too many pods.', since));

  test('happens beside the old servers at first', () => {
    equal(takeover(v2, deployment(v1), serverPod(v1)), 'surge');
  });

  test('waits a while for room, and looks again when the while is over', () => {
    equal(takeover(v2, halfWay(), serverPod(v1), crowded(seconds(4))), 'surge');
    equal(look(v2, seen(...both, halfWay(), serverPod(v1), crowded(seconds(4)))).again, 6_000);
    equal(takeover(v2, halfWay(), serverPod(v1), crowded(seconds(11))), 'oneByOne');
  });

  test('goes on in the place of the old servers once it has begun to, also when it is done', () => {
    equal(takeover(v2, halfWay({}, 'oneByOne'), serverPod(v2)), 'oneByOne');
    equal(takeover(v2, halfWay({ replicas: 1 }, 'oneByOne'), serverPod(v2)), 'oneByOne');
  });

  test('costs no old server if the new one waits for something else than room', () => {
    const elsewhere = serverPod(v2, waiting("1 node(s) didn't match Pod's node affinity/selector.", seconds(99)));
    equal(takeover(v2, halfWay(), serverPod(v1), elsewhere), 'surge');
  });

  const moving =
    "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod affinity rules.";

  test('to another node waits a while, too, and then lets all old servers go first', () => {
    const away = (since: number) => serverPod(v2, waiting(moving, seconds(since)));
    equal(takeover(v2, halfWay(), serverPod(v1), away(4)), 'surge');
    equal(look(v2, seen(...both, halfWay(), serverPod(v1), away(4))).again, 6_000);
    equal(takeover(v2, halfWay(), serverPod(v1), away(11)), 'move');
    equal(takeover(v2, halfWay({}, 'oneByOne'), serverPod(v1), away(11)), 'move');
    equal(takeover(v2, halfWay({ replicas: 1 }, 'move'), serverPod(v2)), 'move');
    const { status } = look(v2, seen(...both, halfWay({}, 'move'), serverPod(v1), away(11)));
    match(status.message ?? '', /move to another node, and only one node at a time can mount the volume.*a gap/);
    equal(conditionOf(status, 'Reconciling')?.status, 'True');
  });

  test('is one by one where the nodes are full, though others would do but for the volume', () => {
    const words = "1 Too many pods, 1 node(s) didn't match pod affinity rules.";
    equal(takeover(v2, halfWay(), serverPod(v1), serverPod(v2, waiting(words, seconds(11)))), 'oneByOne');
  });

  test('is none when a server more of the same finds no room', () => {
    const more = aModel({ ...v2.spec, replicas: 2 });
    const full = { ...deployment(more, 1), status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2 } };
    equal(takeover(more, full, serverPod(v2), crowded(seconds(99))), 'surge');
  });

  test('finds no room in a quota either, and is stalled only when it has no other way', () => {
    const message = 'pods "x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1';
    const refused = (since: number, way: string, progress = 'ReplicaSetUpdated') => {
      const lastTransitionTime = seconds(since);
      const conditions = [
        { type: 'ReplicaFailure', status: 'True' as const, reason: 'FailedCreate', message, lastTransitionTime },
        { type: 'Progressing', status: 'True' as const, reason: progress, message: '', lastTransitionTime },
      ];
      return [halfWay({ updatedReplicas: 0, replicas: 1, conditions }, way), serverPod(v1)];
    };
    equal(takeover(v2, ...refused(4, 'surge')), 'surge');
    equal(takeover(v2, ...refused(11, 'surge')), 'oneByOne');
    for (const way of ['surge', 'oneByOne'])
      equal(says(look(v2, seen(...both, ...refused(4, way))), 'Reconciling'), 'True');
    const { status } = look(v2, seen(...both, ...refused(31, 'oneByOne', 'ProgressDeadlineExceeded')));
    equal(conditionOf(status, 'Stalled')?.reason, 'QuotaExceeded');
    match(status.message ?? '', /exceeded quota: small/);
    const surge = aModel({ ...v2.spec, rollout: { ...v2.spec.rollout, strategy: 'surge' } });
    equal(says(look(surge, seen(...both, ...refused(4, 'surge'))), 'Stalled'), 'True');
  });

  test('is what a person asks for, if they do', () => {
    const rollout = (strategy: 'surge' | 'replace') => ({ ...v2.spec.rollout, strategy });
    equal(takeover(aModel({ ...v2.spec, rollout: rollout('replace') }), deployment(v1)), 'replace');
    const crowdedOut = [halfWay(), serverPod(v1), crowded(seconds(99))];
    equal(takeover(aModel({ ...v2.spec, rollout: rollout('surge') }), ...crowdedOut), 'surge');
  });

  test('with a gap says so, and why', () => {
    const message = (model: MLModel, way: string) =>
      look(model, seen(...both, halfWay({ availableReplicas: 0 }, way), serverPod(v2, unschedulable))).status.message;
    match(message(v2, 'oneByOne') ?? '', /takes the place of the old one, because there is no room beside it.*a gap/);
    match(message(aModel({ ...v2.spec, replicas: 2 }), 'oneByOne') ?? '', /one by one, because there is no room/);
    match(message(v2, 'replace') ?? '', /all old ones at once, as rollout.strategy asks: there is a gap/);
  });
});

describe('servers that start', () => {
  const born = deployment(v1, 0);
  const container = (rest: object) => [{ name: 'server', ready: false, restartCount: 0, ...rest }];
  const placed = { type: 'PodScheduled', status: 'True' as const };
  const progress = (reason: string): Deployment => {
    const conditions = [{ type: 'Progressing', status: 'True' as const, reason, message: '' }];
    return { ...born, status: { ...born.status, conditions } };
  };
  const told = (status: Pod['status'], running = progress('ReplicaSetUpdated')) => {
    const pod = serverPod(v1, status);
    const here = { ...pod, spec: { ...pod.spec, nodeName: 'node-1' } };
    return look(v1, seen(revision(v1), claim(v1, { digest }), running, here)).status;
  };
  const creating = { phase: 'Pending', conditions: [placed] };
  const pulling = {
    ...creating,
    containerStatuses: container({ state: { waiting: { reason: 'ContainerCreating' } } }),
  };
  const loading = {
    ...pulling,
    phase: 'Running',
    containerStatuses: container({ state: { running: {} }, started: false }),
  };

  test('are not in trouble, and their pods are named only after the deadline', () => {
    for (const status of [{ phase: 'Pending' }, creating, pulling, loading]) {
      equal(told(status).message, 'The servers are starting');
      const late = told(status, progress('ProgressDeadlineExceeded'));
      equal(conditionOf(late, 'Stalled')?.reason, 'NotReady');
      match(late.message ?? '', /Pod iris-server-/);
    }
  });

  test('and then do not answer say so at once', () => {
    const mute = { ...loading, containerStatuses: container({ state: { running: {} }, started: true }) };
    match(told(mute).message ?? '', /its readiness probe does not succeed/);
  });
});

describe('ready', () => {
  const model = aModel({ replicas: 3 });
  const world = (change: Partial<Deployment['status']>, metadata: object = {}) => {
    const object = deployment(model);
    const status = { ...object.status, ...change };
    const running = { ...object, metadata: { ...object.metadata, ...metadata }, status } as Deployment;
    return look(model, seen(revision(model), claim(model, { digest }), running, serverPod(model)));
  };

  test('is what all servers of the current generation are, but for one of several', () => {
    equal(says(world({}), 'Ready'), 'True');
    equal(says(world({ availableReplicas: 2 }), 'Ready'), 'True');
    equal(says(world({ availableReplicas: 2 }), 'Reconciling'), 'True');
    equal(says(world({ availableReplicas: 1 }), 'Ready'), 'False');
  });

  test('is nothing that the Deployment has not counted yet, or that is of another revision', () => {
    equal(says(world({ observedGeneration: 0 }), 'Ready'), 'False');
    equal(says(world({ updatedReplicas: 2 }), 'Ready'), 'False');
    equal(says(world({ replicas: 4 }), 'Ready'), 'False');
  });

  test('is no Deployment that is being deleted', () => {
    const going = leaving(deployment(model));
    equal(says(look(model, seen(revision(model), claim(model, { digest }), going)), 'Ready'), 'False');
  });

  test('is not the only word: the one server that is missing says what keeps it', () => {
    const status = { ...deployment(model).status, availableReplicas: 2 };
    const running: Deployment = { ...deployment(model), status };
    const full = seen(revision(model), claim(model, { digest }), running, serverPod(model, unschedulable));
    match(
      conditionOf(look(model, full).status, 'Reconciling')?.message ?? '',
      /2 of 3 servers answer: .*Insufficient memory/,
    );
  });

  test('is asked of every server, also where this revision came one by one: one without room is stalled in the end', () => {
    const { metadata, status } = deployment(model, 1);
    const annotations = { ...metadata.annotations, [mark.rollout]: 'oneByOne' };
    const message = 'pods "x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1';
    const told = { status: 'True' as const, message, lastTransitionTime: seconds(7_200) };
    const conditions = [
      { type: 'ReplicaFailure', reason: 'FailedCreate', ...told },
      { type: 'Progressing', reason: 'NewReplicaSetAvailable', ...told },
    ];
    const running = {
      ...deployment(model, 1),
      metadata: { ...metadata, annotations },
      status: { ...status, conditions },
    };
    const late = look(model, seen(revision(model), claim(model, { digest }), running, serverPod(model)));
    equal(says(late, 'Stalled'), 'True');
  });

  test('names what serves also where the news of the Deployment comes before that of its pods', () => {
    const { status } = look(model, seen(revision(model), claim(model, { digest }), deployment(model)));
    equal(status.phase, 'Ready');
    equal(status.servingRevision, status.revision);
  });

  test('with no server asked for, nothing is said to serve', () => {
    const idle = aModel({ replicas: 0 });
    const { status } = look(idle, seen(revision(idle), claim(idle, { digest }), deployment(idle)));
    equal(status.phase, 'Ready');
    equal(status.servingRevision, undefined);
    equal(conditionOf(status, 'Ready')?.status, 'True');
    for (const type of ['Serving', 'Available']) equal(conditionOf(status, type)?.status, 'False');
    equal(conditionOf(status, 'Serving')?.reason, 'ScaledToZero');
  });
});

describe('the deadline', () => {
  const late = now + 700_000;
  const crashed = (conditions: object[], metadata: object = {}) => {
    const object = deployment(v1, 0);
    const running = {
      ...object,
      metadata: { ...object.metadata, ...metadata },
      status: { ...object.status, conditions },
    };
    return seen(revision(v1), claim(v1, { digest }), running, serverPod(v1, crashing));
  };
  const progress = (reason: string) => [
    { type: 'Progressing', status: 'True', reason, message: '', lastTransitionTime: seconds(0) },
  ];

  test('of a takeover is the Deployment’s to keep', () => {
    equal(look(v1, crashed(progress('ReplicaSetUpdated')), { at: late }).status.phase, 'Serving');
    const { status } = look(v1, crashed(progress('ProgressDeadlineExceeded')));
    equal(status.phase, 'Failed');
    match(status.message ?? '', /exit code 7.*bad magic number/);
    equal(kstatusOf({ ...v1, status }), 'Failed');
  });

  test('that passed for an earlier generation has not passed for this one', () => {
    equal(look(v1, crashed(progress('ProgressDeadlineExceeded'), { generation: 2 })).status.phase, 'Serving');
  });

  test('of servers that fail after they had arrived is ours, from the last change', () => {
    const arrived = crashed(progress('NewReplicaSetAvailable'));
    const soon = look(v1, arrived);
    equal(soon.status.phase, 'Serving');
    equal(soon.again, 600_000);
    equal(look(v1, arrived, { at: late }).status.phase, 'Failed');
  });

  const failedBefore = (failed: number): Job => ({ ...job(v1), status: { failed } });
  const loading = (pod: Pod) => seen(revision(v1), claim(v1), job(v1), pod);

  test('of a download that is held up runs from when its pod was made', () => {
    const stuck = { ...downloadPod(v1), status: unschedulable };
    const { status, again } = look(v1, loading(stuck));
    equal(says({ status, want: [] }, 'Reconciling'), 'True');
    equal(again, 540_000);
    equal(look(v1, loading(stuck), { at: late }).status.phase, 'Failed');
  });

  test('never passes for a download that just takes its time, whatever failed before it', () => {
    const before = downloadPod(v1, { result: 'fault', message: 'the connection was reset' });
    const first = {
      ...before,
      metadata: { ...before.metadata, name: 'first', creationTimestamp: '2025-12-31T00:00:00Z' },
    };
    const again = seen(revision(v1), claim(v1), failedBefore(1), first, downloadPod(v1));
    const { status } = look(v1, again, { at: late });
    equal(status.phase, 'Downloading');
    match(status.message ?? '', /failed before: 1/);
  });

  test('never passes for a fault of the network with attempts left, which is told with their count', () => {
    const fault = downloadPod(v1, { result: 'fault', message: 'the connection was reset' });
    const between = seen(revision(v1), claim(v1), failedBefore(2), fault);
    const { status } = look(v1, between, { at: late });
    equal(status.phase, 'Downloading');
    equal(conditionOf(status, 'Ready')?.reason, 'DownloadRetrying');
    match(status.message ?? '', /the connection was reset \(2 attempts failed, it is tried again\)/);
  });

  const stopped = (failed: number): Job => {
    const overtime = {
      type: 'Failed',
      status: 'True',
      reason: 'DeadlineExceeded',
      message: 'Job was active longer',
    } as const;
    const whole = job(v1);
    return {
      ...whole,
      spec: { ...whole.spec, activeDeadlineSeconds: 90_000 },
      status: { failed, conditions: [{ ...overtime, lastTransitionTime: new Date(late).toISOString() }] },
    };
  };

  test('of the whole download ends it, with what it waited for or with its last fault', () => {
    const mute = look(v1, seen(revision(v1), claim(v1), stopped(0))).status;
    equal(mute.phase, 'Failed');
    equal(conditionOf(mute, 'Ready')?.reason, 'DeadlineExceeded');
    match(mute.message ?? '', /took too long, and was stopped after 1500 minutes/);
    const fault = downloadPod(v1, { result: 'fault', message: 'the connection was reset' });
    const told = look(v1, seen(revision(v1), claim(v1), stopped(2), fault)).status;
    equal(conditionOf(told, 'Ready')?.reason, 'DownloadFailed');
    match(told.message ?? '', /the connection was reset \(2 attempts failed, and its time is over\)/);
  });

  test('passes for a pod that is never started and does not say why', () => {
    const mute = { ...downloadPod(v1), status: { phase: 'Pending' } };
    equal(look(v1, loading(mute)).status.phase, 'Downloading');
    const { status } = look(v1, loading(mute), { at: late });
    equal(status.phase, 'Failed');
    ok(status.message);
  });
});
