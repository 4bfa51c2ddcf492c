// The life of a ModelDeployment for the fault tests: an image by its tag, one that only a Job may look at, several servers
// under an autoscaler, and fewer of another sort; deleted. Former revisions are not kept, so that the life has its deletions.

import type { Call } from '../../controlplane/faults/index.ts';
import { ModelDeployment, sayLastWord } from '../../src/api/index.ts';
import { revisionName } from '../../src/controllers/modeldeployment/index.ts';
import {
  ControllerRevision,
  Deployment,
  HorizontalPodAutoscaler,
  isOfKind,
  Job,
  PodDisruptionBudget,
  Service,
} from '../../src/objects/index.ts';
import { startRegistry } from './registry.ts';
import { product, withoutAutoscaling } from './rig.ts';
import { serversLack } from './servers.ts';
import type { Revision, Subject } from './subject.ts';

/** What the fault tests must know of a ModelDeployment, with the registries that its images are in. */
export async function deploymentSubject(): Promise<{ subject: Subject<ModelDeployment>; stop: () => Promise<void> }> {
  const [open, closed] = await Promise.all([startRegistry(), startRegistry({ open: false })]);
  const digest = await open.push('models/life:1');
  await closed.push('models/life:1');
  const word = sayLastWord({ result: 'done', digest, bytes: 20, mountable: true });
  const tagged = { image: `${open.host}/models/life:1`, rollout: { history: 0 } };
  const shut = {
    ...tagged,
    image: `${closed.host}/models/life:1`,
    imagePullSecrets: [{ name: 'pull' }],
    podAnnotations: { 'sim.baton.dev/container': 'inspect', 'sim.baton.dev/message': word },
  };
  const pinned = { ...tagged, image: `${open.host}/models/life@${digest}` };
  const several = { ...pinned, minReplicas: 2, maxReplicas: 3, annotations: { 'example.com/note': 'several' } };
  const otherwise = { ...pinned, env: [{ name: 'THREADS', value: '2' }] };
  const options = { plainRegistries: [open.host, closed.host] };
  const subject = {
    ...described,
    installed: { ...product, options, flags: withoutAutoscaling },
    life: [tagged, shut, several, otherwise],
  };
  return { subject, stop: async () => void (await Promise.all([open.stop(), closed.stop()])) };
}

const described: Omit<Subject<ModelDeployment>, 'installed' | 'life'> = {
  kind: ModelDeployment,
  children: [ControllerRevision, Job, Deployment, Service, HorizontalPodAutoscaler, PodDisruptionBudget],
  isSettled: (now) => now.all(Job).length === 0 && now.all(ControllerRevision).length === 1,
  lackOf(object, now) {
    const running = now.get(Deployment, `${object.metadata.name}-model`);
    const { replicas, minReplicas = 0 } = object.spec;
    const asked = { replicas: Math.max(replicas, minReplicas), revision: revisionName(object) };
    return running ? serversLack(asked, running, now) : ['it has no Deployment'];
  },
  wrongs: (revision, now) => (now.all(ModelDeployment).length === 0 ? [] : taken(revision)),
  misdeeds: (writes) => writes.flatMap(sentByTag),
  fleeting: ['clusterIP', 'clusterIPs'],
  chance: () => [],
  undone: [],
};

/** What serves and was taken away: the servers, or their address. */
function taken({ type, object }: Revision): string[] {
  if (type !== 'DELETED' && object.metadata.deletionTimestamp === undefined) return [];
  const serves = isOfKind(object, Deployment) || isOfKind(object, Service);
  return serves ? [`${object.kind} ${object.metadata.name} was deleted`] : [];
}

/** A Deployment of an image that may be another one tomorrow. */
function sentByTag({ resource, verb, body, seq }: Call): string[] {
  if (resource !== 'deployments' || verb === 'delete') return [];
  const { template } = (JSON.parse(body) as { spec?: Partial<Deployment['spec']> }).spec ?? {};
  const images = template?.spec.containers.map(({ image }) => image) ?? [];
  return images
    .filter((image) => !image.includes('@sha256:'))
    .map((image) => `request ${seq} sent a Deployment of ${image}`);
}
