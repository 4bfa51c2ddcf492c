// Makes the volumes of classes with a provisioner of ours: a folder on the disk of the node that the scheduler chose, as a
// `local` volume, whose group the kubelet sets as a pod asks. Lets them grow, and removes them when their claim is gone.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from '../api.ts';
import { quantityOf } from '../../src/objects/index.ts';
import { provisioners } from './objects.ts';

/** What is read of a claim. */
export interface Claim {
  metadata: { name: string; namespace: string; uid: string; annotations?: Record<string, string> };
  spec: {
    storageClassName?: string;
    accessModes: string[];
    resources: { requests: { storage: string } };
    volumeName?: string;
    volumeMode?: string;
  };
  status?: { phase?: string; capacity?: { storage?: string } };
}

/** What is read of a volume. */
export interface Volume {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { persistentVolumeReclaimPolicy?: string };
  status?: { phase?: string };
}

const every = 200;
const claims = '/api/v1/persistentvolumeclaims';
const volumes = '/api/v1/persistentvolumes';

/** The disks of the nodes. */
export interface Disks {
  /** Where a volume of this name is on a node, whether it is there or not. */
  path(node: string, name: string): string;
  /** Makes a folder there, or lets it grow; with a limit it takes no more than so many bytes. */
  make(node: string, name: string, limit: bigint | undefined): Promise<void>;
  /** Removes it with all that is in it. */
  remove(node: string, name: string): Promise<void>;
}

/** Begins to serve claims; the end is awaited by calling what it gives. */
export function serveClaims(ask: Ask, disks: Disks): () => Promise<void> {
  const ending = new AbortController();
  const serve = async () => {
    while (!ending.signal.aborted) {
      // A server that is down or slow is asked again.
      await serveOnce(ask, disks).catch(() => {});
      await sleep(every, undefined, { signal: ending.signal, ref: false }).catch(() => {});
    }
  };
  const served = serve();
  return async () => {
    ending.abort();
    await served;
  };
}

async function serveOnce(ask: Ask, disks: Disks): Promise<void> {
  const all = await list<Claim>(ask, claims);
  for (const claim of growing(all)) await grow(ask, disks, claim);
  for (const claim of waiting(all)) {
    const volume = volumeFor(claim, disks);
    await disks.make(nodeOf(claim), volume.metadata.name, limitOf(claim));
    await ask({ method: 'POST', path: volumes, body: volume });
  }
  for (const { metadata } of released(await list<Volume>(ask, volumes))) {
    await disks.remove(metadata.annotations?.[nodeMark] ?? '', metadata.name);
    await ask({ method: 'DELETE', path: `${volumes}/${metadata.name}` });
  }
}

/** The one who makes a volume also tells how large it has become, to the volume and to its claim. */
async function grow(ask: Ask, disks: Disks, claim: Claim): Promise<void> {
  const { name, namespace } = claim.metadata;
  const { volumeName = '', resources } = claim.spec;
  await disks.make(nodeOf(claim), volumeName, limitOf(claim));
  const patch = (path: string, body: object) =>
    ask({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  const capacity = { storage: resources.requests.storage };
  await patch(`${volumes}/${volumeName}`, { spec: { capacity } });
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}/status`;
  await patch(path, { status: { capacity, conditions: null } });
}

/** From the server's memory: a list a few times a second costs next to nothing. */
async function list<T>(ask: Ask, path: string): Promise<T[]> {
  const { status, body } = await ask({ path: `${path}?resourceVersion=0` });
  return status === 200 ? (body as { items: T[] }).items : [];
}

const selectedNode = 'volume.kubernetes.io/selected-node';
const nodeMark = 'baton.dev/node';

const maker = 'volume.kubernetes.io/storage-provisioner';

/** Who is asked to make the volume of a claim. */
const makerOf = ({ metadata }: Claim): string => metadata.annotations?.[maker] ?? '';

const ours = new Set<string>(Object.values(provisioners));

const nodeOf = ({ metadata }: Claim): string => metadata.annotations?.[selectedNode] ?? '';

/** How much a claim may hold, where its class keeps to that. */
export function limitOf(claim: Claim): bigint | undefined {
  if (makerOf(claim) !== provisioners.limited) return undefined;
  return (quantityOf(claim.spec.resources.requests.storage) ?? 0n) / 1_000_000_000n;
}

/** The claims whose volume is smaller than what they ask for by now. */
export const growing = (all: Claim[]): Claim[] =>
  all.filter((claim) => {
    const held = quantityOf(claim.status?.capacity?.storage ?? '');
    const asked = quantityOf(claim.spec.resources.requests.storage);
    return ours.has(makerOf(claim)) && held !== undefined && asked !== undefined && held < asked;
  });

/** The claims whose pod has a node and that have no volume yet. */
export const waiting = (all: Claim[]): Claim[] =>
  all.filter(
    (claim) =>
      ours.has(makerOf(claim)) && !claim.spec.volumeName && claim.metadata.annotations?.[selectedNode] !== undefined,
  );

/** The volumes of ours whose claim is gone and that nobody wants to keep. */
export const released = (all: Volume[]): Volume[] =>
  all.filter(
    ({ metadata, spec, status }) =>
      ours.has(metadata.annotations?.['pv.kubernetes.io/provisioned-by'] ?? '') &&
      spec.persistentVolumeReclaimPolicy === 'Delete' &&
      (status?.phase === 'Released' || status?.phase === 'Failed'),
  );

/** The volume of one claim. Its name is the claim's own, so that making it twice is refused. */
export function volumeFor(claimed: Claim, disks: Pick<Disks, 'path'>) {
  const { metadata, spec } = claimed;
  const node = nodeOf(claimed);
  const name = `pvc-${metadata.uid}`;
  const path = disks.path(node, name);
  const { name: claim, namespace, uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': makerOf(claimed), [nodeMark]: node } },
    spec: {
      accessModes: spec.accessModes,
      capacity: { storage: spec.resources.requests.storage },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: claim, namespace, uid },
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
          ],
        },
      },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: spec.storageClassName,
    },
  };
}
