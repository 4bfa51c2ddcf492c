// What cannot be read from the cache, for every kind with servers: why a pod does not start for want of its Secret or
// volume (its events: its status is silent), why nobody lets a Job make a pod, what a program said whose pod is not in the
// cache, and what is behind the name of an image.

import type { Fact, Observed } from '../kube/define.ts';
import { type Job, jobResult, KubeEvent, type KubeObject, Pod } from '../objects/index.ts';
import { hasSucceeded, podsOf } from './jobs.ts';
import type { Registry, RegistryClients, Resolved } from './registry.ts';

type About = { namespace: string; uid: string };

/** The events of one object, while it is in trouble. */
export const eventsOf = <P>(
  troubled: (object: P, seen: Observed) => KubeObject | undefined,
): Fact<P, About, KubeEvent[], object> => ({
  after: 2_000, // the cause should be told within five seconds, and most claims are bound by then
  freshFor: 2_000,
  slowsTo: 300_000, // what nobody mends is not asked about for ever
  perSecond: 10,
  share: 0.05, // an API server looks through all events of a namespace for those of one object
  needs: [{ group: '', resource: 'events', verbs: ['list'] }],
  inputs: (object, seen) => aboutOf(troubled(object, seen)),
  fetch: ({ namespace, uid }, { kube }) =>
    kube.list(KubeEvent, namespace, { fieldSelector: `involvedObject.uid=${uid}` }),
});

type Jobs<P> = (object: P, seen: Observed) => readonly Job[];

/** The events of a Job that has made no pod. */
export const jobEventsOf = <P>(jobs: Jobs<P>): Fact<P, About, KubeEvent[], object> =>
  eventsOf((object, seen) =>
    jobs(object, seen).find((one) => jobResult(one) === 'running' && podsOf(one, seen).length === 0),
  );

/** The events of a pod that has its node and does not start: of a Job, and without one the server that is stuck. */
export const podEventsOf = <P>(
  jobs: Jobs<P>,
  server: (object: P, seen: Observed) => Pod | undefined,
): Fact<P, About, KubeEvent[], object> =>
  eventsOf((object, seen) => stuckProgram(jobs(object, seen), seen) ?? server(object, seen));

const stuckProgram = (jobs: readonly Job[], seen: Observed): Pod | undefined =>
  jobs
    .flatMap((job) => podsOf(job, seen))
    .find(
      ({ metadata, spec, status }) =>
        status?.phase === 'Pending' && spec.nodeName !== undefined && !metadata.deletionTimestamp,
    );

/** The pods of a Job that is complete and whose pods are not known to be: they are gone, or their news are late. */
export const endedPodsOf = <P>(jobs: Jobs<P>): Fact<P, About, Pod[], object> => ({
  freshFor: Infinity,
  perSecond: 10,
  needs: [{ group: '', resource: 'pods', verbs: ['list'] }],
  inputs(object, seen) {
    const isUntold = (job: Job) => jobResult(job) === 'complete' && !hasSucceeded(podsOf(job, seen));
    return aboutOf(jobs(object, seen).find(isUntold));
  },
  fetch: ({ namespace, uid }, { kube }) =>
    kube.list(Pod, namespace, { labelSelector: `batch.kubernetes.io/controller-uid=${uid}` }),
});

const aboutOf = (object: KubeObject | undefined): About | undefined =>
  object && { namespace: object.metadata.namespace ?? '', uid: object.metadata.uid ?? '' };

/** What is asked of a registry. Whoever mends something wants it asked again: that is another attempt. */
export interface Asked {
  image: string;
  attempt: string;
}

/**
 * What is behind the name of an image, while that is asked. What was found stays; what was refused is asked again, because
 * images are pushed after they are named.
 */
export const manifestOf = <P, L extends Resolved>(
  asked: (object: P, seen: Observed) => Asked | undefined,
  ask: (registry: Registry, image: string, signal: AbortSignal) => Promise<L>,
): Fact<P, Asked, L, RegistryClients> => ({
  freshFor: 60_000,
  slowsTo: 600_000,
  isFinal: (looked) => 'digest' in looked,
  perSecond: 50,
  inputs: asked,
  fetch: ({ image }, { clients, signal }) => ask(clients.registry, image, signal),
});
