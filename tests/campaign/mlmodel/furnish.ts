// What every namespace of a campaign of MLModels has: what their fields may name, and a stranger.

import { must, type Rig } from '../../kit/rig.ts';
import { furniture } from '../words.ts';

const disk = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'kubernetes.io/host-path' };

/** What the whole cluster has of classes. */
const classes = [
  { ...disk, metadata: { name: furniture.storageClass } },
  { ...disk, metadata: { name: furniture.growing }, allowVolumeExpansion: true },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: furniture.priorityClass },
    value: 1000,
  },
  { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: furniture.runtimeClass }, handler: 'any' },
];

/** Somebody else's pod, which has a label or two in common with ours. */
const stranger = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'stranger',
    labels: { app: 'stranger', 'app.kubernetes.io/name': 'mlmodel', 'app.kubernetes.io/component': 'server' },
  },
  spec: {
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'own',
        image: 'own:1',
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};

/** A claim that is there, a Secret, an account, classes, and somebody else's pod with labels like ours. */
export async function furnish(rig: Rig, namespace: string): Promise<void> {
  const documents = [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: furniture.claim },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
    },
    stranger,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: furniture.secret },
      stringData: { token: 'campaign-canary-token' },
    },
    ...classes,
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: furniture.account } },
  ];
  const list = { apiVersion: 'v1', kind: 'List', items: documents };
  await must(rig.plane, ['-n', namespace, 'apply', '-f', '-'], JSON.stringify(list));
}
