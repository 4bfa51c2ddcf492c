// Other people's hands on the children: what they undo is put back, what they add is theirs.

import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import {
  Deployment,
  type Kind,
  KubeEvent,
  type KubeObject,
  label,
  PersistentVolumeClaim,
  Pod,
  rolledOut,
  Service,
} from '../../../src/objects/index.ts';
import { must } from '../../kit/rig.ts';
import type { Row, Scene } from './scene.ts';
import { neverStalled } from './words.ts';

interface Harm {
  what: string;
  child: { kind: Kind; part: string };
  /** A merge patch; without one the child is deleted. */
  patch?: object;
  /** What the Event says of it. */
  told: RegExp;
}

const servers = { kind: Deployment, part: 'server' };
const address = { kind: Service, part: 'service' };

const harms: Harm[] = [
  { what: 'scaled', child: servers, patch: { spec: { replicas: 0 } }, told: /Deployment \S+ .*: spec.replicas/ },
  {
    what: 'turned to another program',
    child: address,
    patch: { spec: { selector: { 'app.kubernetes.io/component': 'somebody' } } },
    told: /Service \S+ .*: spec.selector/,
  },
  {
    what: 'without a label',
    child: servers,
    patch: { metadata: { labels: { [label.uid]: null } } },
    told: /Deployment \S+ .*: metadata.labels/,
  },
  {
    what: 'without an owner',
    child: address,
    patch: { metadata: { ownerReferences: null } },
    told: /Service \S+ .*: (metadata.ownerReferences|it lost its labels or its owner)/,
  },
  { what: 'deleted', child: address, told: /Service \S+ .*: it was missing/ },
  // It is taken for a missing one at first; that was told before, and a repetition is the same Event.
  {
    what: 'without the label by which we find it',
    child: address,
    patch: { metadata: { labels: { [label.kind]: null } } },
    told: /Service \S+ .*: metadata.labels/,
  },
  { what: 'deleted', child: servers, told: /Deployment \S+ .*: it was missing/ },
];

const drift: Row = {
  name: '17: children that somebody edits or deletes are put back with one Normal Event, what they add stays, lost weights are fetched again',
  async play(scene) {
    await scene.model();
    await scene.ready();
    await must(scene.rig.plane, [...at(scene), 'annotate', `deployment/${scene.name}-server`, 'example.com/mine=yes']);
    for (const harm of harms) if (isBearable(harm, scene)) await mended(scene, harm);
    await weightsLost(scene);
    await neverStalled(scene);
  },
};

/** A child that is not found is made once more, which is refused; who dies of a refusal never gets beyond it. */
const isBearable = ({ patch }: Harm, { form }: Scene): boolean =>
  form !== 'crashing' || !JSON.stringify(patch ?? '').includes(label.kind);

const at = ({ namespace }: Scene): string[] => ['-n', namespace];

/** Does the harm, and waits until it is undone. */
async function mended(scene: Scene, { child, patch, told }: Harm): Promise<void> {
  const { rig, namespace, name } = scene;
  const ref = { namespace, name: `${name}-${child.part}` };
  const before = await rig.admin.get(child.kind, ref);
  const earlier = (await toldOf(scene)).length;
  if (patch) await rig.admin.patch(child.kind, ref, patch, { type: 'merge', manager: 'somebody' });
  else await rig.admin.delete(child.kind, ref);
  await scene.eventually(async () => {
    deepEqual(asAsked(await rig.admin.get(child.kind, ref)), asAsked(before));
    return true;
  }, `${child.kind.kind} is put back`);
  await servesAgain(scene);
  const { metadata } = await rig.admin.get(child.kind, ref);
  if (patch)
    deepEqual(
      [metadata.uid, metadata.annotations?.['example.com/mine']],
      [before.metadata.uid, before.metadata.annotations?.['example.com/mine']],
    );
  const events = (await toldOf(scene)).slice(earlier);
  equal(events.length, 1, `one Event: ${JSON.stringify(events)}`);
  equal(events[0]?.type, 'Normal');
  match(events[0]?.message ?? '', told);
}

/** One server answers, no other is there any more, and that is said. */
async function servesAgain(scene: Scene): Promise<void> {
  const alone = async () => rolledOut((await scene.own(Deployment))[0]) && (await scene.own(Pod)).length === 1;
  await scene.eventually(alone, 'one server answers');
  await scene.ready();
}

/** What we ask of a child, without what the server and others write into it. */
function asAsked(object: KubeObject): unknown {
  const { labels, ownerReferences } = object.metadata;
  const { replicas, template, selector, ports } = (object as Deployment & Service).spec;
  return { labels, ownerReferences, spec: { replicas, template, selector, ports } };
}

/** The Events about drift of this model, oldest first. */
const toldOf = async ({ rig, namespace, name }: Scene): Promise<KubeEvent[]> =>
  (await rig.list(KubeEvent, namespace))
    .filter(({ reason, involvedObject }) => reason === 'DriftCorrected' && involvedObject.name === name)
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));

/** Somebody deletes the claim under servers that run: they go on, it is said, and without them it is fetched again. */
async function weightsLost(scene: Scene): Promise<void> {
  const { rig, namespace } = scene;
  const fetched = scene.made('jobs').length;
  const [claim] = await scene.own(PersistentVolumeClaim);
  const [before] = await scene.own(Deployment);
  await rig.admin.delete(PersistentVolumeClaim, { namespace, name: claim?.metadata.name ?? '' });
  await scene.holds('DataLost', { status: 'True' });
  for (const type of ['Available', 'Ready']) await scene.holds(type, { status: 'True' });
  const [after] = await scene.own(Deployment);
  equal(after?.metadata.resourceVersion, before?.metadata.resourceVersion, 'what serves is not touched');
  await scene.model({ replicas: 0 });
  await scene.holds('Ready', { status: 'True', reason: 'ScaledToZero' });
  await scene.model();
  await scene.ready();
  const [anew] = await scene.own(PersistentVolumeClaim);
  notEqual(anew?.metadata.uid, claim?.metadata.uid);
  equal(scene.made('jobs').length, fetched + 1);
}

export const driftRows: Row[] = [drift];
