// What a cluster of real nodes holds from the beginning: the rights of its agents, DNS at its address, and the class
// of volumes that claims get.

import { type Ask, must } from '../api.ts';
import { dnsService } from './addresses.ts';

/** Who makes volumes: those of the default class, and those that are full when they hold what was asked for. */
export const provisioners = { local: 'baton.dev/local', limited: 'baton.dev/limited' } as const;

/** A volume is made on the node that the scheduler chose for its first pod, as with disks of a cloud. */
export const localClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: provisioners.local,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
};

/** The same with volumes that are full and can grow: they lie in memory, and are lost with the power. */
export const limitedClass = {
  ...localClass,
  metadata: { name: 'limited' },
  provisioner: provisioners.limited,
  allowVolumeExpansion: true,
};

/** Makes all but the default class; `inside` is where DNS answers. */
export async function makeObjects(ask: Ask, inside: string): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const post = (path: string, body: object) => must(ask, { method: 'POST', path, body });
  await Promise.all([
    post(`${rbac}/clusterroles`, dnsRole),
    post(`${rbac}/clusterrolebindings`, binding('system:coredns', 'system:coredns')),
    post(`${rbac}/clusterrolebindings`, binding('system:kube-proxy', 'system:node-proxier')),
    post('/apis/storage.k8s.io/v1/storageclasses', limitedClass),
    post('/api/v1/namespaces/kube-system/services', dns),
    post('/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices', dnsEndpoints(inside)),
  ]);
}

const dnsRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'system:coredns' },
  rules: [
    { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ],
};

const binding = (user: string, role: string): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: user },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
});

const ports = [
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
];

const dns = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kube-dns', labels: { 'k8s-app': 'kube-dns' } },
  spec: { clusterIP: dnsService, ports },
};

const dnsEndpoints = (inside: string): object => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'kube-dns-hub', labels: { 'kubernetes.io/service-name': 'kube-dns' } },
  addressType: 'IPv4',
  ports,
  endpoints: [{ addresses: [inside], conditions: { ready: true } }],
});
