// What cannot be read from the cache: how far a download is (the last lines of its pod's log), why a claim does not bind
// (its events), why a download or a server does not start: for want of its Secret, volume or network (the events of its
// pod: its status is silent), or because nobody lets a Job make a pod (the events of the Job), why a load balancer gives no
// address. And what a download said whose pod is not in the cache.

import { heardProgress, mark, type MLModel, type Progress } from '../../api/index.ts';
import type { Fact, Observed } from '../../kube/define.ts';
import {
  Job,
  jobResult,
  KubeEvent,
  type KubeObject,
  PersistentVolumeClaim,
  Pod,
  Service,
  waitsForAddress,
} from '../../objects/index.ts';
import { hasSucceeded, jobsFor, podsOf } from './downloads.ts';
import { inspectName } from './look.ts';
import { exposeName } from './network.ts';
import type { Looked } from './registry.ts';
import { askedSource } from './revision.ts';
import { stuckServer } from './rollout.ts';
import { digestOn } from './volume.ts';

export type MLModelFacts = {
  progress: Progress | undefined;
  claimEvents: KubeEvent[];
  podEvents: KubeEvent[];
  jobEvents: KubeEvent[];
  exposeEvents: KubeEvent[];
  endedPods: Pod[];
  manifest: Looked;
  imageVolumes: boolean;
};

/** The newest progress line of the download that is running for what is asked. */
export const progress: Fact<MLModel, { namespace: string; pod: string }, Progress | undefined, object> = {
  after: 700, // what is over in a moment needs no progress
  freshFor: 2_000,
  perSecond: 20,
  needs: [{ group: '', resource: 'pods/log', verbs: ['get'] }],
  inputs(model, seen) {
    const { name: pod, namespace = '' } = downloadIn('Running', model, seen)?.metadata ?? {};
    return pod === undefined ? undefined : { namespace, pod };
  },
  async fetch({ namespace, pod }, { kube }) {
    return heardProgress(
      await kube.podLog(namespace, pod, { container: 'download', tailLines: '3', limitBytes: '4096' }),
    );
  },
};

type About = { namespace: string; uid: string };

const events = (
  inputs: Fact<MLModel, About, KubeEvent[], object>['inputs'],
): Fact<MLModel, About, KubeEvent[], object> => ({
  after: 2_000, // the cause should be told within five seconds, and most claims are bound by then
  freshFor: 2_000,
  slowsTo: 300_000, // what nobody mends is not asked about for ever
  perSecond: 10,
  share: 0.05, // an API server looks through all events of a namespace for those of one object
  needs: [{ group: '', resource: 'events', verbs: ['list'] }],
  inputs,
  fetch: ({ namespace, uid }, { kube }) =>
    kube.list(KubeEvent, namespace, { fieldSelector: `involvedObject.uid=${uid}` }),
});

/** The events of a claim that waits. */
export const claimEvents = events((model, seen) => {
  const claim = seen.get(PersistentVolumeClaim, askedSource(model, seen).claim ?? '');
  return claim?.status?.phase === 'Pending' && digestOn(claim) === undefined ? aboutOf(claim) : undefined;
});

/** The events of a download, an inspection or a server that has its node and does not start. */
export const podEvents = events((model, seen) => {
  const pod = downloadIn('Pending', model, seen);
  const stuck = pod?.spec.nodeName === undefined ? stuckServer(model, askedSource(model, seen), seen) : pod;
  return stuck && aboutOf(stuck);
});

/** The Jobs that fetch what is asked, or look at it. */
function jobsAsked(model: MLModel, seen: Observed): Job[] {
  const { claim } = askedSource(model, seen);
  const inspection = seen.get(Job, inspectName(model));
  return [...(claim === undefined ? [] : jobsFor(claim, seen)), ...(inspection ? [inspection] : [])];
}

/** The events of a Job that has made no pod. */
export const jobEvents = events((model, seen) => {
  const job = jobsAsked(model, seen).find((one) => jobResult(one) === 'running' && podsOf(one, seen).length === 0);
  return job && aboutOf(job);
});

/** The events of a Service that waits for an address from outside. */
export const exposeEvents = events((model, seen) => {
  const held = model.spec.expose ? seen.get(Service, exposeName(model)) : undefined;
  return held && waitsForAddress(held) ? aboutOf(held) : undefined;
});

/** The pods of a Job that is complete and whose pods are not known to be: they are gone, or their news are late. */
export const endedPods: Fact<MLModel, About, Pod[], object> = {
  freshFor: Infinity,
  perSecond: 10,
  needs: [{ group: '', resource: 'pods', verbs: ['list'] }],
  inputs(model, seen) {
    const isUntold = (job: Job) => jobResult(job) === 'complete' && !hasSucceeded(podsOf(job, seen));
    const job = jobsAsked(model, seen).find(isUntold);
    return job && aboutOf(job);
  },
  fetch: ({ namespace, uid }, { kube }) =>
    kube.list(Pod, namespace, { labelSelector: `batch.kubernetes.io/controller-uid=${uid}` }),
};

const aboutOf = ({ metadata: { namespace = '', uid = '' } }: KubeObject): About => ({
  namespace,
  uid,
});

/** The pod of the program that works for what is asked: a download onto its claim, or an inspection, which has none. */
function downloadIn(phase: string, model: MLModel, seen: Observed): Pod | undefined {
  const { claim } = askedSource(model, seen);
  const component = claim === undefined ? 'inspect' : 'download';
  const isMeant = ({ metadata: { labels, deletionTimestamp } }: Pod) =>
    labels?.['app.kubernetes.io/component'] === component && labels[mark.weights] === claim && !deletionTimestamp;
  return seen.labelled(Pod).find((pod) => isMeant(pod) && pod.status?.phase === phase);
}
