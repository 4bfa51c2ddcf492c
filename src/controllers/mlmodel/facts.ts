// What cannot be read from the cache: how far a download is (the last lines of its pod's log), and why a claim does not
// bind (its events).

import { heardProgress, mark, type MLModel, type Progress } from '../../api/index.ts';
import type { Fact, Observed } from '../../kube/define.ts';
import { KubeEvent, PersistentVolumeClaim, Pod } from '../../objects/index.ts';
import { sourceOf } from './source.ts';

export type MLModelFacts = { progress: Progress | undefined; claimEvents: KubeEvent[] };

/** The newest progress line of the download that is running for what is asked. */
export const progress: Fact<MLModel, { namespace: string; pod: string }, Progress | undefined, object> = {
  freshFor: 2_000,
  perSecond: 20,
  needs: [{ group: '', resource: 'pods/log', verbs: ['get'] }],
  inputs: (model, seen) => loadingPod(model, seen),
  async fetch({ namespace, pod }, { kube }) {
    return heardProgress(
      await kube.podLog(namespace, pod, { container: 'download', tailLines: '3', limitBytes: '4096' }),
    );
  },
};

/** The events of a claim that waits. */
export const claimEvents: Fact<MLModel, { namespace: string; uid: string }, KubeEvent[], object> = {
  freshFor: 5_000,
  perSecond: 10,
  needs: [{ group: '', resource: 'events', verbs: ['list'] }],
  inputs: (model, seen) => waitingClaim(model, seen),
  fetch: ({ namespace, uid }, { kube }) =>
    kube.list(KubeEvent, namespace, { fieldSelector: `involvedObject.uid=${uid}` }),
};

function loadingPod(model: MLModel, seen: Observed): { namespace: string; pod: string } | undefined {
  const { claim } = sourceOf(model);
  const pod = seen
    .labelled(Pod)
    .find(({ metadata, status }) => isDownload(metadata.labels, claim) && status?.phase === 'Running');
  return pod && { namespace: pod.metadata.namespace ?? '', pod: pod.metadata.name };
}

const isDownload = (labels: Record<string, string> | undefined, claim: string): boolean =>
  labels?.['app.kubernetes.io/component'] === 'download' && labels[mark.weights] === claim;

function waitingClaim(model: MLModel, seen: Observed): { namespace: string; uid: string } | undefined {
  const claim = seen.get(PersistentVolumeClaim, sourceOf(model).claim);
  if (!claim || claim.status?.phase !== 'Pending' || claim.metadata.annotations?.[mark.digest] !== undefined)
    return undefined;
  return { namespace: claim.metadata.namespace ?? '', uid: claim.metadata.uid ?? '' };
}
