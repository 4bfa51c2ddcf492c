// The objects that are measured: parents of the test kind, each with a Deployment, two Jobs and two claims, as a real
// operator writes them. With what the API server adds, a child is 2.5 KB on the wire in the mean.

import { hashOf } from '../src/base/index.ts';
import { annotation, Deployment, Job, type Kind, type KubeObject, kindOf, label } from '../src/objects/index.ts';
import type { PodSpec, PodTemplate } from '../src/objects/index.ts';
import { Trio } from '../tests/kit/trio/schema.ts';

/** A claim as we need it here. */
export const PersistentVolumeClaim = kindOf<KubeObject & { spec: unknown }>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);

/** The kinds of the children. */
export const childKinds: readonly Kind[] = [Deployment, Job, PersistentVolumeClaim];

/** The kinds of the children of one parent, child by child. */
export const familyKinds: readonly Kind[] = [Deployment, Job, Job, PersistentVolumeClaim, PersistentVolumeClaim];

/** A parent, as a person would write it. */
export const parent = (namespace: string, name: string) => ({
  apiVersion: Trio.apiVersion,
  kind: Trio.kind,
  metadata: { namespace, name, labels: { 'app.kubernetes.io/part-of': 'bench', team: `team-${name.slice(-1)}` } },
  spec: {
    text: `https://models.example.com/${name}/weights.onnx`,
    env: [
      { name: 'LOG_LEVEL', value: 'info' },
      { name: 'MODEL_NAME', value: name },
    ],
    replicas: 2,
    image: 'registry.example.com/server:1.4.2',
  },
});

/** What a parent says once everything runs. */
export const settledStatus = (name: string) => ({
  observedGeneration: 1,
  phase: 'Ready',
  message: 'All servers are available',
  replicas: 2,
  selector: `${label.kind}=Trio,${label.name}=${name}`,
  conditions: (['Ready', 'Reconciling', 'Stalled'] as const).map((type) => ({
    type,
    status: type === 'Ready' ? ('True' as const) : ('False' as const),
    reason: 'Ready',
    message: 'All servers are available',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })),
});

/** The children of a parent that the API server has taken. */
export const childrenOf = (owner: KubeObject): { kind: Kind; object: KubeObject }[] => [
  { kind: Deployment, object: deployment(owner, 'server') },
  { kind: Job, object: job(owner, 'download') },
  { kind: Job, object: job(owner, 'check') },
  { kind: PersistentVolumeClaim, object: claim(owner, 'weights') },
  { kind: PersistentVolumeClaim, object: claim(owner, 'scratch') },
];

/** A Deployment of a parent. */
export const deployment = (owner: KubeObject, part: string): Deployment => ({
  ...head(Deployment, owner, part),
  spec: {
    replicas: 2,
    revisionHistoryLimit: 3,
    selector: { matchLabels: podLabels(owner, part) },
    template: template(owner, part, serverSpec(owner)),
  },
});

const job = (owner: KubeObject, part: string): Job => ({
  ...head(Job, owner, part),
  spec: {
    backoffLimit: 3,
    activeDeadlineSeconds: 3600,
    template: template(owner, part, { restartPolicy: 'Never', ...worker(owner) }),
  },
});

const claim = (owner: KubeObject, part: string) => ({
  ...head(PersistentVolumeClaim, owner, part),
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
});

function head<T extends KubeObject>({ apiVersion, kind }: Kind<T>, { metadata, ...owner }: KubeObject, part: string) {
  const { namespace = '', uid = '' } = metadata;
  const name = `${metadata.name}-${part}`;
  return {
    apiVersion,
    kind,
    metadata: {
      namespace,
      name,
      labels: {
        'app.kubernetes.io/name': name,
        'app.kubernetes.io/managed-by': 'baton',
        [label.kind]: Trio.kind,
        [label.name]: metadata.name,
        [label.uid]: uid,
      },
      annotations: { [annotation.desired]: hashOf(name) },
      ownerReferences: [
        {
          apiVersion: owner.apiVersion,
          kind: owner.kind,
          name: metadata.name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
  };
}

const podLabels = ({ metadata }: KubeObject, part: string) => ({
  [label.kind]: Trio.kind,
  [label.name]: metadata.name,
  part,
});

const template = (owner: KubeObject, part: string, spec: PodSpec): PodTemplate => ({
  metadata: { labels: podLabels(owner, part) },
  spec,
});

const weights = ({ metadata }: KubeObject) => ({
  securityContext: { runAsNonRoot: true, runAsUser: 1000 },
  volumes: [{ name: 'weights', persistentVolumeClaim: { claimName: `${metadata.name}-weights` } }],
});

const serverSpec = (owner: KubeObject): PodSpec => ({
  ...weights(owner),
  containers: [
    {
      name: 'server',
      image: 'registry.example.com/server:1.4.2',
      env: [{ name: 'MODEL_NAME', value: owner.metadata.name }],
      readinessProbe: { httpGet: { path: '/v2/health/ready', port: 8080 } },
      resources: { requests: { memory: '256Mi' } },
      volumeMounts: [{ name: 'weights', mountPath: '/models', readOnly: true }],
    },
  ],
});

const worker = (owner: KubeObject): PodSpec => ({
  ...weights(owner),
  containers: [
    {
      name: 'download',
      image: 'registry.example.com/baton:0.1.0',
      args: ['download', `https://models.example.com/${owner.metadata.name}/weights.onnx`, '/models'],
      terminationMessagePolicy: 'FallbackToLogsOnError',
      volumeMounts: [{ name: 'weights', mountPath: '/models' }],
    },
  ],
});
