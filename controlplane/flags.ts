// The command line of every component. Everything listens on loopback only, or in a network of its own where there are
// real nodes, and whoever does not need to listen does not.

import { basename, join } from 'node:path';
import type { ComponentName } from './component.ts';
import type { Options } from './options.ts';
import { recording } from './recording.ts';
import { nodeAnnotation } from './stages/nodes.ts';

/** What the command lines of one control plane are made from. */
export interface Layout {
  folder: string;
  etcdPort: number;
  apiPort: number;
  options: Options;
  /** Whether the API server writes down what it is asked. */
  records?: 'requests';
  /** The network that is shared with real nodes; without it everything is on loopback. */
  network?: Network;
}

/** Where the control plane of real nodes is. */
export interface Network {
  /** The address at which the machine itself reaches it. */
  outside: string;
  /** The address at which nodes and pods reach it. */
  inside: string;
  /** Begins every command line that has to run there. */
  enter: string[];
}

/** The address at which this process reaches the components. */
export const hostOf = ({ network }: Layout): string => network?.outside ?? '127.0.0.1';

/** The address of the API server. */
export const urlOf = (layout: Layout): string => `https://${hostOf(layout)}:${layout.apiPort}`;

/** The address of etcd. */
export const etcdUrlOf = (layout: Layout): string => `http://${hostOf(layout)}:${layout.etcdPort}`;

/** The arguments of one component, the caller's own last, so that they win. */
export const argumentsOf = (name: ComponentName, layout: Layout): string[] => [
  ...known[name](layout),
  ...(layout.options.flags?.[name] ?? []),
];

const known: Record<ComponentName, (layout: Layout) => string[]> = {
  etcd,
  'kube-apiserver': apiServer,
  'kube-controller-manager': controllerManager,
  'kube-scheduler': scheduler,
  kwok,
};

/** The name that tells this etcd from every other one on the machine. */
export const etcdName = ({ folder }: Layout): string => basename(folder);

/** The data lives as long as a test: nothing waits for the disk. */
function etcd(layout: Layout): string[] {
  const { folder, options } = layout;
  const name = etcdName(layout);
  const url = etcdUrlOf(layout);
  return [
    `--name=${name}`,
    `--initial-cluster=${name}=http://127.0.0.1:0`,
    '--initial-advertise-peer-urls=http://127.0.0.1:0',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    '--unsafe-no-fsync',
    // As kubeadm sets it. By etcd's own default the API server has no bookmarks for a kind that nobody changes.
    '--watch-progress-notify-interval=5s',
    '--log-level=warn',
    ...(options.etcdQuotaBytes === undefined ? [] : [`--quota-backend-bytes=${options.etcdQuotaBytes}`]),
  ];
}

function apiServer(layout: Layout): string[] {
  const { folder, apiPort, options } = layout;
  const pki = (file: string) => join(folder, 'pki', file);
  return [
    `--etcd-servers=${etcdUrlOf(layout)}`,
    ...(layout.network ? amongNodes(layout.network) : alone),
    `--secure-port=${apiPort}`,
    `--cert-dir=${join(folder, 'pki')}`,
    `--tls-cert-file=${pki('apiserver.crt')}`,
    `--tls-private-key-file=${pki('apiserver.key')}`,
    `--client-ca-file=${pki('ca.crt')}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--kubelet-certificate-authority=${pki('ca.crt')}`,
    `--kubelet-client-certificate=${pki('admin.crt')}`,
    `--kubelet-client-key=${pki('admin.key')}`,
    '--service-cluster-ip-range=10.96.0.0/12',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${pki('tokens.pub')}`,
    `--service-account-signing-key-file=${pki('tokens.key')}`,
    '--allow-privileged=true',
    ...(layout.records ? recording(folder) : []),
    // Without the controller-manager nobody makes the ServiceAccount that every pod must name.
    ...(options.controllers === 'none' ? ['--disable-admission-plugins=ServiceAccount'] : []),
  ];
}

/** Loopback addresses are refused as endpoints, so the `kubernetes` Service gets none. */
const alone = [
  '--bind-address=127.0.0.1',
  '--advertise-address=127.0.0.1',
  '--endpoint-reconciler-type=none',
  '--authorization-mode=RBAC',
];

/** Kubelets are held to what is theirs; webhooks in pods are dialled directly, as no kube-proxy runs here. */
const amongNodes = ({ inside }: Network): string[] => [
  '--bind-address=0.0.0.0',
  `--advertise-address=${inside}`,
  '--authorization-mode=Node,RBAC',
  '--enable-admission-plugins=NodeRestriction',
  '--enable-aggregator-routing=true',
];

/** One process, one identity: no election, and no ServiceAccount for each controller, which would only cost seconds. */
function controllerManager({ folder }: Layout): string[] {
  return [
    `--kubeconfig=${join(folder, 'controller-manager.kubeconfig')}`,
    '--secure-port=0',
    '--leader-elect=false',
    `--root-ca-file=${join(folder, 'pki', 'ca.crt')}`,
    `--service-account-private-key-file=${join(folder, 'pki', 'tokens.key')}`,
    '--enable-hostpath-provisioner',
    '--pvclaimbinder-sync-period=1s',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ];
}

function scheduler({ folder }: Layout): string[] {
  return [
    `--kubeconfig=${join(folder, 'scheduler.kubeconfig')}`,
    '--secure-port=0',
    '--leader-elect=false',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ];
}

function kwok({ folder }: Layout): string[] {
  return [
    `--kubeconfig=${join(folder, 'kwok.kubeconfig')}`,
    `--config=${join(folder, 'kwok.yaml')}`,
    `--manage-nodes-with-annotation-selector=${nodeAnnotation}=true`,
    '--node-ip=127.0.0.1',
    '--cidr=10.128.0.0/9',
    '--node-lease-duration-seconds=40',
  ];
}
