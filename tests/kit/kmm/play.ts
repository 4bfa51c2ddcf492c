// KMM, played by the test: for each Module it labels the nodes that the selector means as loaded and plugged, offers devices on
// them, writes its counts, and holds a Module that is deleted until no consumer has its devices open, as a kernel does.

import { setTimeout as pause } from 'node:timers/promises';
import { DeviceTemplate } from '../../../src/api/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { label, Module, moduleLabels, Node, Pod } from '../../../src/objects/index.ts';

const finalizer = 'kmm.node.kubernetes.io/module-finalizer';

export interface Kmm {
  /** Nodes on which loading fails from now on. */
  broken: Set<string>;
  stop(): Promise<void>;
}

/** Plays on all Modules, as fast as it can look. */
export function playKmm(admin: Client): Kmm {
  const broken = new Set<string>();
  const leaving = new AbortController();
  const running = (async () => {
    while (!leaving.signal.aborted) {
      // A Module that goes or changes meanwhile is looked at again in a moment, and there may be no Modules at all yet.
      await turn(admin, broken).catch(() => {});
      await pause(100, undefined, { signal: leaving.signal }).catch(() => {});
    }
  })();
  return {
    broken,
    async stop() {
      leaving.abort();
      await running;
    },
  };
}

async function turn(admin: Client, broken: ReadonlySet<string>): Promise<void> {
  const [modules, nodes] = await Promise.all([admin.list(Module, undefined, {}), admin.list(Node, undefined, {})]);
  await Promise.all(modules.items.map((module) => serve(admin, module, nodes.items, broken)));
}

async function serve(admin: Client, module: Module, nodes: Node[], broken: ReadonlySet<string>): Promise<void> {
  const { namespace = '', name, deletionTimestamp, finalizers = [] } = module.metadata;
  const isMeant = ({ metadata }: Node) =>
    deletionTimestamp === undefined &&
    Object.entries(module.spec.selector).every(([key, value]) => metadata.labels?.[key] === value);
  if (deletionTimestamp === undefined && !finalizers.includes(finalizer)) await hold(admin, module, [finalizer]);
  if (deletionTimestamp !== undefined && (await inUse(admin, module))) return;
  await Promise.all(nodes.map((node) => tell(admin, module, node, isMeant(node) && !broken.has(node.metadata.name))));
  if (deletionTimestamp !== undefined) return hold(admin, module, []);
  const matching = nodes.filter(isMeant);
  const available = matching.filter((node) => isDone(module, node)).length;
  const counts = { nodesMatchingSelectorNumber: matching.length, desiredNumber: matching.length };
  const status = { moduleLoader: { ...counts, availableNumber: available } };
  const wanted = { ...status, devicePlugin: status.moduleLoader };
  if (JSON.stringify(module.status) === JSON.stringify(wanted)) return;
  await admin.patch(
    Module,
    { namespace, name },
    { status: wanted },
    { type: 'merge', manager: 'kmm', subresource: 'status' },
  );
}

/** Whether a consumer still has devices open. */
async function inUse(admin: Client, { metadata: { namespace, ownerReferences = [] } }: Module): Promise<boolean> {
  const owner = ownerReferences.find(({ kind }) => kind === DeviceTemplate.kind)?.name ?? '';
  const { items } = await admin.list(Pod, namespace, { labelSelector: `${label.name}=${owner}` });
  return items.length > 0;
}

const hold = async (admin: Client, { metadata }: Module, finalizers: string[]): Promise<void> => {
  const { namespace = '', name, uid } = metadata;
  await admin.patch(Module, { namespace, name }, { metadata: { uid, finalizers } }, { type: 'merge', manager: 'kmm' });
};

/** The labels that a node has for a Module. */
function isDone({ metadata: { namespace = '', name }, spec }: Module, { metadata: { labels = {} } }: Node): boolean {
  const keys = moduleLabels(namespace, name);
  const { version } = spec.moduleLoader.container;
  return keys.plugged in labels && (version === undefined || labels[keys.version] === version);
}

/** Loads or unloads on one node. With versions it loads what the node is told, once it is the Module's, and else leaves what there is. */
async function tell(admin: Client, module: Module, node: Node, isMeant: boolean): Promise<void> {
  const { namespace = '', name } = module.metadata;
  const { labels = {}, name: own } = node.metadata;
  const keys = moduleLabels(namespace, name);
  const { version } = module.spec.moduleLoader.container;
  const isTold = version === undefined || labels[keys.told] === version;
  if (isMeant && (!isTold || isDone(module, node))) return;
  if (!isMeant && !(keys.loaded in labels)) return;
  const value = isMeant ? '' : null;
  const told = { [keys.loaded]: value, [keys.plugged]: value, [keys.version]: isMeant ? (version ?? null) : null };
  await admin.patch(
    Node,
    { namespace: '', name: own },
    { metadata: { labels: told } },
    { type: 'merge', manager: 'kmm' },
  );
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
