// KMM, played by the test: for each Module it labels the nodes that the selector means as loaded and plugged, and writes its
// counts. As a kernel does, it unloads nothing while a consumer on the node has devices open: till then its labels stay.

import { setTimeout as pause } from 'node:timers/promises';
import { DeviceTemplate } from '../../../src/api/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { label, Module, moduleLabels, Node, Pod, type Taint } from '../../../src/objects/index.ts';

const finalizer = 'kmm.node.kubernetes.io/module-finalizer';

export interface Kmm {
  /** Nodes on which loading fails from now on. */
  broken: Set<string>;
  /** Whether a person tells every node at once to load the version that is asked for. */
  hasty: boolean;
  stop(): Promise<void>;
}

/** Plays on all Modules, as fast as it can look. */
export function playKmm(admin: Client): Kmm {
  const leaving = new AbortController();
  const kmm: Kmm = {
    broken: new Set(),
    hasty: false,
    async stop() {
      leaving.abort();
      await running;
    },
  };
  const running = (async () => {
    while (!leaving.signal.aborted) {
      // A Module that goes or changes meanwhile is looked at again in a moment, and there may be no Modules at all yet.
      await turn(admin, kmm).catch(() => {});
      await pause(100, undefined, { signal: leaving.signal }).catch(() => {});
    }
  })();
  return kmm;
}

async function turn(admin: Client, kmm: Kmm): Promise<void> {
  const [modules, nodes] = await Promise.all([admin.list(Module, undefined, {}), admin.list(Node, undefined, {})]);
  await Promise.all(modules.items.map((module) => serve(admin, module, nodes.items, kmm)));
}

async function serve(admin: Client, module: Module, nodes: Node[], { broken, hasty }: Kmm): Promise<void> {
  const { deletionTimestamp, finalizers = [] } = module.metadata;
  const meant = deletionTimestamp === undefined ? nodes.filter((node) => isMeant(module, node)) : [];
  if (deletionTimestamp === undefined && !finalizers.includes(finalizer)) await hold(admin, module, [finalizer]);
  const changes = nodes
    .map((node) => {
      const isWanted = meant.includes(node) && !broken.has(node.metadata.name);
      return { node, ...changeOf(module, node, { isWanted, hasty }) };
    })
    .filter(({ labels }) => Object.keys(labels).length > 0);
  const busy = changes.some(({ unloads }) => unloads) ? await inUse(admin, module) : [];
  await Promise.all(
    changes
      .filter(({ node, unloads }) => !unloads || !busy.includes(node.metadata.name))
      .map(({ node, labels }) => tell(admin, node, labels)),
  );
  if (deletionTimestamp === undefined) return count(admin, module, meant);
  if (changes.length === 0) await hold(admin, module, []);
}

const isMeant = ({ spec: { selector, tolerations = [] } }: Module, { metadata, spec }: Node): boolean =>
  Object.entries(selector).every(([key, value]) => metadata.labels?.[key] === value) &&
  (spec?.taints ?? []).every(
    (taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((one) => tolerates(one, taint)),
  );

function tolerates(
  toleration: { key?: string; operator?: string; value?: string; effect?: string },
  taint: Taint,
): boolean {
  const { key, operator, value = '', effect = taint.effect } = toleration;
  if (key && key !== taint.key) return false;
  return effect === taint.effect && (operator === 'Exists' || value === (taint.value ?? ''));
}

/** The nodes on which a consumer still has devices open. */
async function inUse(admin: Client, { metadata: { namespace, ownerReferences = [] } }: Module): Promise<string[]> {
  const owner = ownerReferences.find(({ kind }) => kind === DeviceTemplate.kind)?.name ?? '';
  const { items } = await admin.list(Pod, namespace, { labelSelector: `${label.name}=${owner}` });
  return items.flatMap(({ spec }) => spec.nodeName ?? []);
}

const hold = async (admin: Client, { metadata }: Module, finalizers: string[]): Promise<void> => {
  const { namespace = '', name, uid } = metadata;
  await admin.patch(Module, { namespace, name }, { metadata: { uid, finalizers } }, { type: 'merge', manager: 'kmm' });
};

/** Whether a node has everything of a Module. */
function isDone({ metadata: { namespace = '', name }, spec }: Module, { metadata: { labels = {} } }: Node): boolean {
  const keys = moduleLabels(namespace, name);
  const { version } = spec.moduleLoader.container;
  return keys.plugged in labels && (version === undefined || labels[keys.version] === version);
}

interface Change {
  labels: Record<string, string | null>;
  /** Whether something is unloaded for it. */
  unloads: boolean;
}

/** What becomes of one node. With versions it loads what it is told, once that is the Module's, and else stays as it is. */
function changeOf(module: Module, node: Node, { isWanted, hasty }: { isWanted: boolean; hasty: boolean }): Change {
  const { namespace = '', name } = module.metadata;
  const { labels = {} } = node.metadata;
  const keys = moduleLabels(namespace, name);
  const { version } = module.spec.moduleLoader.container;
  const unloads = keys.loaded in labels;
  if (!isWanted) {
    const gone = {
      [keys.loaded]: null,
      [keys.plugged]: null,
      [keys.version]: null,
      ...(hasty && { [keys.told]: null }),
    };
    return { labels: unloads ? gone : {}, unloads };
  }
  const isTold = version === undefined || labels[keys.told] === version;
  if (!isTold && hasty) return { labels: { [keys.told]: version }, unloads: false };
  if (!isTold || isDone(module, node)) return { labels: {}, unloads: false };
  return { labels: { [keys.loaded]: '', [keys.plugged]: '', [keys.version]: version ?? null }, unloads };
}

const tell = (admin: Client, { metadata: { name } }: Node, labels: Change['labels']): Promise<Node> =>
  admin.patch(Node, { namespace: '', name }, { metadata: { labels } }, { type: 'merge', manager: 'kmm' });

/** Writes how far it is. A count of none is left out. */
async function count(admin: Client, module: Module, meant: readonly Node[]): Promise<void> {
  const { namespace = '', name } = module.metadata;
  const found = meant.length || null;
  const availableNumber = meant.filter((node) => isDone(module, node)).length || null;
  const moduleLoader = { nodesMatchingSelectorNumber: found, desiredNumber: found, availableNumber };
  const status = { moduleLoader, devicePlugin: moduleLoader };
  const { moduleLoader: told } = module.status ?? {};
  const isTold = told?.nodesMatchingSelectorNumber === (found ?? undefined);
  if (told && isTold && told.availableNumber === (availableNumber ?? undefined)) return;
  const how = { type: 'merge', manager: 'kmm', subresource: 'status' } as const;
  await admin.patch(Module, { namespace, name }, { status }, how);
}

/** Devices on a node, as a plugin offers them. */
export const offerDevices = async (admin: Client, node: string, devices: Record<string, string>): Promise<void> => {
  const status = { capacity: devices, allocatable: devices };
  await admin.patch(
    Node,
    { namespace: '', name: node },
    { status },
    { type: 'merge', manager: 'kubelet', subresource: 'status' },
  );
};
