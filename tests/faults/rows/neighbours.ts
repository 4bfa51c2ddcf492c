// Models that serve while something goes wrong beside them, in the same namespace and with the same operator. Whatever
// that is, no object of theirs is written, by anybody.

import { deepEqual, equal } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { MLModel } from '../../../src/api/index.ts';
import {
  conditionOf,
  ControllerRevision,
  Deployment,
  Job,
  type Kind,
  type KubeObject,
  label,
  PersistentVolumeClaim,
  Pod,
  Service,
} from '../../../src/objects/index.ts';
import { eventually } from '../../kit/eventually.ts';
import type { ModelLane } from '../../kit/models.ts';

export interface Neighbours {
  /** Throws if anything of theirs has changed since they settled. */
  undisturbed(): Promise<void>;
}

const kinds: Kind[] = [MLModel, ControllerRevision, PersistentVolumeClaim, Job, Deployment, Service, Pod];

/** Waits until so many models serve and rest. */
export async function settleNeighbours(lane: ModelLane, count: number): Promise<Neighbours> {
  const names = Array.from({ length: count }, (_, index) => `neighbour-${index + 1}`);
  await Promise.all(names.map((name) => lane.model({ expose: true }, { name })));
  const look = () => objectsOf(lane, new Set(names));
  const settled = await eventually(async () => atRest(look), {
    within: 120_000,
    what: `${count} models serve and rest`,
  });
  equal(settled.filter(({ kind }) => kind === MLModel.kind).length, count);
  return {
    undisturbed: async () => deepEqual((await look()).map(words), settled.map(words), 'the neighbours noticed nothing'),
  };
}

/** All are Ready, their downloads are cleared away, and nothing is written any more. */
async function atRest(look: () => Promise<KubeObject[]>): Promise<KubeObject[]> {
  const before = await look();
  const models = before.filter((object): object is MLModel => object.kind === MLModel.kind);
  for (const { metadata, status } of models) equal(conditionOf(status, 'Ready')?.status, 'True', metadata.name);
  equal(before.filter(({ kind }) => kind === Job.kind).length, 0, 'a download is still there');
  await pause(2_000);
  const after = await look();
  deepEqual(after.map(words), before.map(words));
  return after;
}

async function objectsOf({ rig, namespace }: ModelLane, names: ReadonlySet<string>): Promise<KubeObject[]> {
  const lists = await Promise.all(kinds.map((kind) => rig.list(kind, namespace)));
  return lists.flat().filter(({ metadata }) => names.has(metadata.labels?.[label.name] ?? metadata.name));
}

const words = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
