// A decision of the MLModel controller in a few signs, so that a table of worlds and plans can be read.

import type { MLModel, MLModelStatus } from '../../src/api/index.ts';
import { decide, type Exposure, type MLModelFacts } from '../../src/controllers/mlmodel/index.ts';
import type { Decision, Desired, Facts, Observed } from '../../src/kube/define.ts';
import { type CommonStatus, conditionOf, type Deployment, type KubeObject } from '../../src/objects/index.ts';
import { childIn } from './cluster/engine.ts';
import { settings } from './mlmodel.ts';

/** When tests look at the world, one minute after it was born. */
export const now = Date.parse('2026-01-01T00:01:00Z');

/** Nothing is known from outside the cache. */
export const noFacts: Facts<MLModelFacts> = {
  progress: { state: 'pending' },
  claimEvents: { state: 'pending' },
  podEvents: { state: 'unneeded' },
  jobEvents: { state: 'unneeded' },
  exposeEvents: { state: 'unneeded' },
  endedPods: { state: 'unneeded' },
  manifest: { state: 'pending' },
  imageVolumes: { state: 'pending' },
};

/** '!' is created once, '+' is applied, '=' is kept untouched, '@' is noted. */
const sign = { create: '!', apply: '+', keep: '=', note: '@' };
const short: Record<string, string> = {
  ControllerRevision: 'Revision',
  PersistentVolumeClaim: 'Claim',
  PodDisruptionBudget: 'Budget',
  HorizontalPodAutoscaler: 'Autoscaler',
};

/** One wish, in a sign. */
export const line = (desired: Desired): string =>
  Object.entries(sign)
    .filter(([verb]) => verb in desired)
    .map(([, mark]) => `${mark}${short[childIn(desired).kind] ?? childIn(desired).kind}`)
    .join('');

/** What the controller decides. */
export const look = (
  model: MLModel,
  world: Observed,
  { at = now, facts = noFacts, exposure }: { at?: number; facts?: Facts<MLModelFacts>; exposure?: Exposure } = {},
): Decision<MLModelStatus> =>
  decide({ object: model, seen: world, facts, now: at }, exposure ? { ...settings, exposure } : settings);

/** What it wants, in signs. */
export const plan = (model: MLModel, world: Observed, facts = noFacts): string =>
  look(model, world, { facts }).want.map(line).join(' ');

/** The word for it. */
export const reason = (model: MLModel, world: Observed, facts = noFacts): string | undefined =>
  conditionOf(look(model, world, { facts }).status, 'Ready')?.reason;

/** Whether a condition holds, or undefined where it is not told. */
export const says = ({ status }: Decision<CommonStatus>, type: string): string | undefined =>
  conditionOf(status, type)?.status;

/** The objects of a kind that are wanted in whatever way. */
export const wantedOf = <T extends KubeObject>({ want }: Decision<CommonStatus>, kind: string): T[] =>
  want.flatMap((one) => Object.values(one).filter((child): child is T => (child as Partial<KubeObject>).kind === kind));

/** The Deployment that is applied. */
export const servers = (decision: Decision<CommonStatus>): Deployment | undefined =>
  decision.want
    .flatMap((one) => ('apply' in one ? [one.apply] : []))
    .find((child): child is Deployment => child.kind === 'Deployment');
