// The life of an MLModel for the fault tests: fetched and served, with another source, with more servers and a port outside,
// with fewer and other ones, deleted. Former weights are not kept, so that the life has its deletions.

import type { Call } from '../../controlplane/faults/index.ts';
import { mark, MLModel } from '../../src/api/index.ts';
import { revisionName } from '../../src/controllers/mlmodel/index.ts';
import {
  ControllerRevision,
  Deployment,
  isOfKind,
  Job,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  type PodTemplate,
  Service,
} from '../../src/objects/index.ts';
import { product } from './rig.ts';
import { answers, serversLack } from './servers.ts';
import type { Revision, Subject, World } from './subject.ts';

/** A model whose download takes a moment, and which keeps nothing of what it was. */
export const briefly = {
  modelURL: 'https://models.example/life-1.onnx',
  storageSize: '1Gi',
  framework: 'onnx',
  rollout: { history: 0 },
  podAnnotations: { 'sim.baton.dev/container': 'download', 'sim.baton.dev/run-for': '300ms' },
};
const elsewhere = { ...briefly, modelURL: 'https://models.example/life-2.onnx' };
const larger = { ...elsewhere, replicas: 2, expose: true };
const otherwise = { ...elsewhere, env: [{ name: 'THREADS', value: '2' }] };

/** What the fault tests must know of an MLModel. */
export const mlmodel: Subject<MLModel> = {
  kind: MLModel,
  installed: product,
  children: [ControllerRevision, PersistentVolumeClaim, Job, Deployment, Service, PodDisruptionBudget],
  life: [briefly, elsewhere, larger, otherwise],
  isSettled: (now) =>
    now.all(Job).length === 0 &&
    now.all(PersistentVolumeClaim).length === 1 &&
    now.all(ControllerRevision).length === 1,
  lackOf(model, now) {
    const running = now.get(Deployment, `${model.metadata.name}-server`);
    const asked = { replicas: model.spec.replicas, revision: revisionName(model) };
    return running ? [...weightsLack(running, now), ...serversLack(asked, running, now)] : ['it has no Deployment'];
  },
  wrongs: (revision, now) =>
    now.all(MLModel).length === 0 ? [] : [...startedBlind(revision, now), ...taken(revision, now)],
  misdeeds: (writes) => writes.flatMap((call) => sentTooEarly(call, writes)),
  fleeting: ['clusterIP', 'clusterIPs', 'nodePort'],
  chance: (object) =>
    isOfKind(object, Service) ? (object.spec.ports ?? []).flatMap(({ nodePort }) => nodePort ?? []).map(String) : [],
  undone: [],
};

const claimOf = ({ metadata }: PodTemplate | Pod): string => metadata?.labels?.[mark.weights] ?? '';

/** Whether the note that its weights are there is on a claim that stays. */
function isFed(template: PodTemplate | Pod, now: World): boolean {
  const claim = now.get(PersistentVolumeClaim, claimOf(template))?.metadata;
  return claim?.annotations?.[mark.digest] !== undefined && claim.deletionTimestamp === undefined;
}

const weightsLack = ({ spec }: Deployment, now: World): string[] =>
  isFed(spec.template, now) ? [] : ['its weights are not there'];

/** Servers that were told to start, or that answer, without the evidence of their weights. */
function startedBlind({ type, object }: Revision, now: World): string[] {
  if (type === 'DELETED') return [];
  if (isOfKind(object, Deployment) && object.spec.replicas !== 0 && !isFed(object.spec.template, now))
    return [`the Deployment ran without ${claimOf(object.spec.template)}`];
  const server = isOfKind(object, Pod) && object.metadata.labels?.['app.kubernetes.io/component'] === 'server';
  return server && answers(object) && !isFed(object, now) ? [`a server answered without ${claimOf(object)}`] : [];
}

/** What serves and was taken away: the servers, their address, or the weights under them. */
function taken({ type, object }: Revision, now: World): string[] {
  if (type !== 'DELETED' && object.metadata.deletionTimestamp === undefined) return [];
  const { name } = object.metadata;
  if (isOfKind(object, Deployment) || (isOfKind(object, Service) && name.endsWith('-service')))
    return [`${object.kind} ${name} was deleted`];
  const used =
    isOfKind(object, PersistentVolumeClaim) && now.all(Pod).some((pod) => answers(pod) && claimOf(pod) === name);
  return used ? [`the claim ${name} was deleted under servers that answer`] : [];
}

type Sent = { metadata?: { annotations?: Record<string, string> }; spec?: Partial<Deployment['spec']> };

/** A Deployment that was sent before the note was on the claim of its weights. */
function sentTooEarly({ resource, verb, body, at, seq }: Call, writes: readonly Call[]): string[] {
  if (resource !== 'deployments' || verb === 'delete') return [];
  const { template } = (JSON.parse(body) as Sent).spec ?? {};
  if (!template) return [];
  const claim = claimOf(template);
  const noted = writes.some((call) => isNote(call, claim) && (call.answer?.at ?? Infinity) <= at);
  return noted ? [] : [`request ${seq} sent a Deployment before the weights were noted on ${claim}`];
}

const isNote = ({ resource, name, verb, body, answer }: Call, claim: string): boolean =>
  resource === 'persistentvolumeclaims' &&
  name === claim &&
  verb === 'apply' &&
  (answer?.status ?? 500) < 300 &&
  (JSON.parse(body) as Sent).metadata?.annotations?.[mark.digest] !== undefined;
