// How many servers: a fixed number, or as many as an autoscaler finds right between two bounds. It writes the number where
// a person would, through the scale subresource, so that everything else is the same for both.

import type { ModelDeployment } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { HorizontalPodAutoscaler, type LooseCondition } from '../../objects/index.ts';
import { type Verdict, verdict } from '../../serving/index.ts';
import { modelName, named } from './server.ts';

/** The bounds of an autoscaler; undefined without one. It never scales to zero: nothing would wake the model. */
export function boundsOf({ spec }: ModelDeployment): { least: number; most: number } | undefined {
  const { minReplicas, maxReplicas } = spec;
  if (minReplicas === undefined && maxReplicas === undefined) return undefined;
  return { least: Math.max(1, minReplicas ?? 0), most: maxReplicas ?? 1 };
}

/** The object with the number of servers that it means. A person who writes 0 stops it, with an autoscaler, too. */
export function sized(object: ModelDeployment): ModelDeployment {
  const bounds = boundsOf(object);
  const { replicas } = object.spec;
  if (!bounds || replicas === 0) return object;
  const within = Math.min(Math.max(replicas, bounds.least), bounds.most);
  return { ...object, spec: { ...object.spec, replicas: within } };
}

/** The autoscaler, if one is asked for. */
export function autoscalerOf(object: ModelDeployment): HorizontalPodAutoscaler | undefined {
  const bounds = boundsOf(object);
  if (!bounds) return undefined;
  const { apiVersion, kind, metadata } = object;
  return {
    apiVersion: HorizontalPodAutoscaler.apiVersion,
    kind: HorizontalPodAutoscaler.kind,
    metadata: named(object),
    spec: {
      scaleTargetRef: { apiVersion, kind, name: metadata.name },
      minReplicas: bounds.least,
      maxReplicas: bounds.most,
      metrics: [metricOf(object)],
    },
  };
}

function metricOf({ spec: { target = {} } }: ModelDeployment): object {
  const { concurrency, cpu = 80 } = target;
  if (concurrency === undefined)
    return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpu } } };
  const aim = { type: 'AverageValue', averageValue: String(concurrency) };
  return { type: 'Pods', pods: { metric: { name: 'concurrency' }, target: aim } };
}

/** Whether an autoscaler is at work, or what keeps it, in its own words. */
export function autoscaledOf(object: ModelDeployment, seen: Observed): Verdict {
  const bounds = boundsOf(object);
  if (!bounds) return verdict('Autoscaled', false, 'NotAsked', 'As many servers run as replicas says');
  const { conditions = [] } = seen.get(HorizontalPodAutoscaler, modelName(object))?.status ?? {};
  const bad = conditions.find(({ type, status }) => steps.includes(type) && status === 'False');
  if (bad) return verdict('Autoscaled', false, bad.reason || 'NotScaling', wordsOf(bad));
  const active = conditions.some(({ type, status }) => type === 'ScalingActive' && status === 'True');
  if (!active) return verdict('Autoscaled', false, 'Waiting', 'The autoscaler has not looked yet');
  const { least, most } = bounds;
  return verdict('Autoscaled', true, 'Scaling', `An autoscaler chooses between ${least} and ${most} servers`);
}

/** It reaches what it scales; it knows by what. */
const steps = ['AbleToScale', 'ScalingActive'];

function wordsOf({ reason = '', message }: LooseCondition): string {
  const advice = /^FailedGet.*Metric$/.test(reason) ? '; a metrics API has to serve it, such as metrics-server' : '';
  return `The autoscaler does not scale: ${message || 'it gives no reason'}${advice}`;
}
