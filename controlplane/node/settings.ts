// The files that the agents of one node are started with.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { kubeconfig, type Identities } from '../files.ts';
import { type Addresses, dnsService } from './addresses.ts';
import { cgroupOf } from './cgroups.ts';

/** The image that holds a pod together; it is brought to every node before its first pod. */
export const pauseImage = 'localhost/pause:1';

/** What the settings of one node are made from. */
export interface NodeSite {
  /** The folder of the control plane. */
  home: string;
  /** The folder of the node. */
  folder: string;
  name: string;
  number: number;
  /** The numbers of the other nodes. */
  others: number[];
  addresses: Addresses;
  identities: Identities;
  /** Address and port of the registry. */
  registry: string;
  /** The address of the API server for nodes. */
  server: string;
  /** The folder of the programs that containerd starts. */
  programs: string;
  runc: string;
}

/** Writes all of them. */
export function writeSettings(site: NodeSite): void {
  const { folder, name, number, addresses, identities, registry, server } = site;
  for (const part of ['lib', 'log', 'settings', 'tmp', 'volumes']) mkdirSync(join(folder, part), { recursive: true });
  for (const part of ['lib/kubelet', 'lib/cni', 'lib/containerd', 'log/pods', 'log/containers'])
    mkdirSync(join(folder, part), { recursive: true });
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text, { mode: 0o600 });
  };
  const { authority, ca } = identities;
  const kubelet = authority.issue({
    name: `system:node:${name}`,
    groups: ['system:nodes'],
    addresses: [addresses.node(number), name],
  });
  write('kubelet.crt', kubelet.certificate);
  write('kubelet.key', kubelet.key);
  write('kubelet.kubeconfig', kubeconfig(server, ca, kubelet));
  write('kube-proxy.kubeconfig', kubeconfig(server, ca, authority.issue({ name: 'system:kube-proxy' })));
  write('resolv.conf', `nameserver ${addresses.inside}\n`);
  write('kubelet.yaml', stringify(kubeletSettings(site)));
  write('containerd.toml', containerdSettings(site));
  write('cni/10-pods.conflist', JSON.stringify(podNetwork(addresses.pods(number))));
  write(`registries/${registry}/hosts.toml`, registrySettings(registry));
}

function kubeletSettings({ home, folder, name, number, addresses }: NodeSite): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: addresses.node(number),
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: join(home, 'pki', 'ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: cgroupOf(home, name),
    clusterDNS: [dnsService],
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    enforceNodeAllocatable: [],
    evictionHard: { 'nodefs.available': '100Mi', 'imagefs.available': '100Mi', 'memory.available': '100Mi' },
    failCgroupV1: false,
    failSwapOn: false,
    healthzPort: 0,
    imageGCHighThresholdPercent: 100,
    makeIPTablesUtilChains: false,
    nodeLeaseDurationSeconds: 10,
    nodeStatusUpdateFrequency: '2s',
    podLogsDir: '/var/log/pods',
    registryPullQPS: 0,
    resolvConf: join(folder, 'resolv.conf'),
    serializeImagePulls: false,
    tlsCertFile: join(folder, 'kubelet.crt'),
    tlsPrivateKeyFile: join(folder, 'kubelet.key'),
    volumePluginDir: '/var/lib/kubelet/volumeplugins',
    volumeStatsAggPeriod: '10s',
  };
}

/** Left out is what looks for devices of the machine, and the profiles that would be loaded into its kernel. */
const containerdSettings = ({ folder, programs, runc }: NodeSite): string => `version = 4
root = '/var/lib/containerd'
state = '/run/containerd'
disabled_plugins = [${unusedPlugins.map((plugin) => `'${plugin}'`).join(', ')}]
[plugins.'io.containerd.server.v1.grpc']
  address = '/run/containerd/containerd.sock'
[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '${pauseImage}'
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = '${join(folder, 'registries')}'
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['${programs}']
    conf_dir = '${join(folder, 'cni')}'
    use_internal_loopback = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = 'io.containerd.runc.v2'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      BinaryName = '${runc}'
      SystemdCgroup = false
`;

const unusedPlugins = [
  ...['blockfile', 'btrfs', 'devmapper', 'erofs', 'zfs'].map((name) => `io.containerd.snapshotter.v1.${name}`),
  'io.containerd.internal.v1.tracing',
  'io.containerd.nri.v1.nri',
  'io.containerd.tracing.processor.v1.otlp',
];

/** Every pod has a link of its own to the node and no bridge: so all packets, answers too, pass the rules of kube-proxy. */
const podNetwork = (subnet: string): object => ({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'ptp',
      ipMasq: false,
      ipam: { type: 'host-local', ranges: [[{ subnet }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    { type: 'portmap', backend: 'nftables', capabilities: { portMappings: true } },
  ],
});

const registrySettings = (registry: string): string => `server = "http://${registry}"
[host."http://${registry}"]
  capabilities = ["pull", "resolve"]
`;
