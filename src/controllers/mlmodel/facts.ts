// What cannot be read from the cache of a model: how far a download is (the last lines of its pod's log), why a claim does
// not bind, why a download or a server does not start, why a load balancer gives no address. And what a download said
// whose pod is not in the cache.

import { heardProgress, mark, type MLModel, type Progress } from '../../api/index.ts';
import type { Fact, Observed } from '../../kube/define.ts';
import {
  Deployment,
  Job,
  type KubeEvent,
  PersistentVolumeClaim,
  Pod,
  Service,
  waitsForAddress,
} from '../../objects/index.ts';
import {
  endedPodsOf,
  eventsOf,
  jobEventsOf,
  type Looked,
  type LookFacts,
  podEventsOf,
  stuckServer,
} from '../../serving/index.ts';
import { jobsFor } from './downloads.ts';
import { inspectName } from './look.ts';
import { exposeName } from './network.ts';
import { askedSource } from './revision.ts';
import { serverName } from './server.ts';
import { digestOn } from './volume.ts';

export type MLModelFacts = LookFacts<Looked> & {
  progress: Progress | undefined;
  claimEvents: KubeEvent[];
  exposeEvents: KubeEvent[];
  imageVolumes: boolean;
};

/** The newest progress line of the download that is running for what is asked. */
export const progress: Fact<MLModel, { namespace: string; pod: string }, Progress | undefined, object> = {
  after: 700, // what is over in a moment needs no progress
  freshFor: 2_000,
  perSecond: 20,
  needs: [{ group: '', resource: 'pods/log', verbs: ['get'] }],
  inputs(model, seen) {
    const { name: pod, namespace = '' } = downloading(model, seen)?.metadata ?? {};
    return pod === undefined ? undefined : { namespace, pod };
  },
  async fetch({ namespace, pod }, { kube }) {
    return heardProgress(
      await kube.podLog(namespace, pod, { container: 'download', tailLines: '3', limitBytes: '4096' }),
    );
  },
};

/** The events of a claim that waits. */
export const claimEvents = eventsOf<MLModel>((model, seen) => {
  const claim = seen.get(PersistentVolumeClaim, askedSource(model, seen).claim ?? '');
  return claim?.status?.phase === 'Pending' && digestOn(claim) === undefined ? claim : undefined;
});

/** The Jobs that fetch what is asked, or look at it. */
function jobsAsked(model: MLModel, seen: Observed): Job[] {
  const { claim } = askedSource(model, seen);
  const inspection = seen.get(Job, inspectName(model));
  return [...(claim === undefined ? [] : jobsFor(claim, seen)), ...(inspection ? [inspection] : [])];
}

/** The events of a download, an inspection or a server that has its node and does not start. */
export const podEvents = podEventsOf<MLModel>(jobsAsked, (model, seen) => {
  const volume = askedSource(model, seen).from === 'claim' ? 'foreign' : 'ours';
  return stuckServer(seen.get(Deployment, serverName(model)), seen, volume);
});

export const jobEvents = jobEventsOf(jobsAsked);
export const endedPods = endedPodsOf(jobsAsked);

/** The events of a Service that waits for an address from outside. */
export const exposeEvents = eventsOf<MLModel>((model, seen) => {
  const held = model.spec.expose ? seen.get(Service, exposeName(model)) : undefined;
  return held && waitsForAddress(held) ? held : undefined;
});

/** The pod that downloads what is asked onto its claim. */
function downloading(model: MLModel, seen: Observed): Pod | undefined {
  const { claim } = askedSource(model, seen);
  const isMeant = ({ metadata: { labels, deletionTimestamp } }: Pod) =>
    labels?.['app.kubernetes.io/component'] === 'download' && labels[mark.weights] === claim && !deletionTimestamp;
  return seen.labelled(Pod).find((pod) => isMeant(pod) && pod.status?.phase === 'Running');
}
