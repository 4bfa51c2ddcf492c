// Old pictures and things unseen, the same for every kind: watches that are held while the world moves on, or moves and
// moves back. Whatever the operator then does, it must not delete or overwrite what is newer, and must end where it would have.

import { deepEqual, equal } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Call } from '../../controlplane/faults/index.ts';
import { conditionOf, Deployment, Job, type Kind, type KubeObject, Pod } from '../../src/objects/index.ts';
import { ApiError } from '../../src/kube/index.ts';
import { eventually } from './eventually.ts';
import { ask, atRest, becomesReady, type Lane, name, onLane, wordsOf, writesSince } from './lane.ts';
import { live, sameAs, type Scene, settles } from './story.ts';

/** Holds the watches of these kinds while something happens, then delivers all that was held. */
export async function unseen<T>({ proxy }: Lane, kinds: readonly Kind[], happen: () => Promise<T>): Promise<T> {
  const held = kinds.map(({ plural }) => ({ resource: plural }));
  for (const watches of held) await proxy.now({ kind: 'freeze', watches });
  try {
    return await happen();
  } finally {
    for (const watches of held) await proxy.now({ kind: 'unfreeze', watches });
  }
}

/** Deletions of the operator that were taken, since a mark in the trace if there is one. */
export const deletions = ({ proxy }: Lane, mark = 0): Call[] =>
  proxy.trace.writes({ verb: 'delete' }).filter(({ answer, seq }) => answer?.status === 200 && seq > mark);

/** Whole lives in which the news of one kind always come late, each a test: they end as those in which they come at once. */
export async function livesWithLateNews({ t, rig, subject }: Scene): Promise<void> {
  const reference = await onLane(rig, { subject }, (lane) => live(lane));
  const late = (lane: Lane, kind: Kind) =>
    live(lane, (edit) => unseen(lane, [kind], () => edit().then(() => pause(2_500))));
  const tests = [subject.kind, ...subject.children, Pod].map((kind) =>
    t.test(kind.plural, () =>
      onLane(rig, { subject }, async (lane) => sameAs(reference, await late(lane, kind), subject)),
    ),
  );
  await Promise.all(tests);
}

/** An object that asks for this, Ready and at rest. */
export async function calm(lane: Lane, spec: object): Promise<void> {
  await ask(lane, spec);
  await settles(lane);
  await atRest(lane);
}

/** A child is replaced by a stranger's object while the operator looks at the old one: it is not touched. */
export async function replacedByStranger<T extends KubeObject>(
  lane: Lane,
  kind: Kind<T>,
  { stranger, edit }: { stranger: T; edit: object },
): Promise<void> {
  const { rig, namespace, subject } = lane;
  const place = { namespace, name: stranger.metadata.name };
  const made = await unseen(lane, [kind], async () => {
    await rig.admin.delete(kind, place);
    const theirs = await rig.admin.create(
      kind,
      { ...stranger, metadata: { ...stranger.metadata, namespace } },
      { manager: 'somebody' },
    );
    await ask(lane, edit);
    await pause(3_000);
    return theirs;
  });
  await eventually(async () => {
    const now = await rig.get(subject.kind, namespace, name);
    return conditionOf(now?.status, 'Stalled')?.reason === 'OwnershipConflict';
  });
  deepEqual((await rig.admin.get(kind, place)).metadata, made.metadata);
}

/** The object is replaced by one of the same name: in the end the children are all of the second one. */
export async function replacedByNamesake(
  lane: Lane,
  { spec, propagation }: { spec: object; propagation: 'Orphan' | 'Background' },
): Promise<void> {
  const { rig, namespace, subject, truth } = lane;
  const { kind } = subject;
  const second = await unseen(lane, [kind], async () => {
    await rig.admin.delete(kind, { namespace, name }, { propagation });
    await eventually(async () => (await rig.list(kind, namespace)).length === 0);
    const made = await ask(lane, spec);
    // Wakes the old picture, unless that has happened: what is given back to an owner that is gone is collected.
    await rig.admin.delete(Deployment, { namespace, name: `${name}-server` }).catch(isGone);
    await pause(2_000);
    return made;
  });
  await becomesReady(lane, name, 120_000);
  const children = subject.children.flatMap((child) => truth.all(child));
  for (const { metadata } of children) equal(metadata.ownerReferences?.[0]?.uid, second.metadata.uid);
}

function isGone(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 404) throw error;
}

/** A Job ends and is removed by somebody else, all unseen: it runs once more, and no error remains. */
export async function endedUnseen(lane: Lane, spec: object): Promise<void> {
  const { rig, namespace, truth } = lane;
  await ask(lane, spec);
  const { metadata } = await eventually(() => truth.all(Job)[0], { what: 'the Job is there' });
  await unseen(lane, [Job, Pod], async () => {
    await eventually(() => truth.get(Job, metadata.name)?.status?.succeeded === 1, { what: 'the Job ends unseen' });
    await rig.admin.delete(Job, { namespace, name: metadata.name }, { propagation: 'Background' });
    await pause(500);
  });
  const { status } = await becomesReady(lane, name);
  equal(conditionOf(status, 'Stalled')?.status, 'False');
}

/** A child is deleted and brought back from a backup, unseen: it is taken back and made as asked, not doubled. */
export async function restoredFromBackup<T extends KubeObject>(
  lane: Lane,
  kind: Kind<T>,
  { child, older, isMended }: { child: string; older: (child: T) => T; isMended: (child: T) => boolean },
): Promise<void> {
  const { rig, namespace } = lane;
  const place = { namespace, name: child };
  const { metadata, ...held } = await rig.admin.get(kind, place);
  const { labels = {}, annotations = {} } = metadata;
  await unseen(lane, [kind], async () => {
    await rig.admin.delete(kind, place);
    await eventually(async () => (await rig.get(kind, namespace, child)) === undefined);
    const copy = older({ ...held, metadata: { ...place, labels, annotations } } as T);
    await rig.admin.create(kind, copy, { manager: 'backup' });
  });
  await eventually(async () => {
    const now = await rig.admin.get(kind, place);
    return isMended(now) && now.metadata.ownerReferences?.[0]?.name === name;
  });
  await settles(lane);
}

/** All servers go and come back unseen: nothing is asked of the API server, and nothing flips. */
export async function goneAndBack(lane: Lane): Promise<void> {
  const { rig, namespace, proxy, truth } = lane;
  const place = { namespace, name: `${name}-server` };
  const available = () => truth.get(Deployment, place.name)?.status?.availableReplicas ?? 0;
  const before = available();
  const scale = (replicas: number) =>
    rig.admin.patch(Deployment, place, { spec: { replicas } }, { type: 'merge', manager: 'somebody' });
  const mark = proxy.trace.mark();
  await unseen(lane, [Deployment, Pod], async () => {
    await scale(0);
    await eventually(() => available() === 0, { what: 'the servers go' });
    await scale(before);
    await eventually(() => available() === before, { what: 'the servers are back' });
  });
  await atRest(lane);
  deepEqual(
    proxy.trace.since(mark).calls.map(wordsOf),
    [],
    'every state that was passed through was over when it was seen',
  );
}

/** An edit is taken back before it was seen: only the status says that it knows of it. */
export async function takenBackUnseen(lane: Lane, { spec, edit }: { spec: object; edit: object }): Promise<void> {
  const { proxy, subject } = lane;
  const mark = proxy.trace.mark();
  await unseen(lane, [subject.kind], async () => {
    await ask(lane, edit);
    await ask(lane, spec);
    await pause(500);
  });
  await settles(lane);
  await atRest(lane);
  deepEqual(writesSince(lane, mark), [`apply ${subject.kind.plural}/status ${name} -> 200`]);
}

/** No read accepts an old picture, so an API server that lags is never believed. */
export async function lagging(lane: Lane): Promise<void> {
  const { proxy, subject, operator } = lane;
  const [first, second, third] = subject.life;
  await ask(lane, first ?? {});
  const { metadata } = await becomesReady(lane, name);
  const old = { kind: 'serveOld', resourceVersion: metadata.resourceVersion ?? '' } as const;
  proxy.setPlan([{ when: { request: { verb: ['list', 'watch'] } }, do: old, times: 'always' }], operator);
  await ask(lane, second ?? {});
  await operator.kill();
  await becomesReady(lane, name);
  await proxy.now({ kind: 'reset' });
  await ask(lane, third ?? first ?? {});
  await becomesReady(lane, name);
  deepEqual(proxy.firings(), [0]);
  deepEqual(
    proxy.trace.requests().filter(({ resourceVersion }) => resourceVersion === '0'),
    [],
  );
}
