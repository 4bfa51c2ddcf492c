// Makes the volumes of our classes: a folder on the disk of the node that the scheduler chose, as a `local` volume,
// whose group the kubelet sets as a pod asks. Removes them when their claim is gone.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from '../api.ts';
import { quantityOf } from '../../src/objects/index.ts';
import { limitedClass, localClass, provisioner } from './objects.ts';

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
const limited = limitedClass.metadata.name;
const ours = [localClass.metadata.name, limited];

/** The disks of the nodes. */
export interface Disks {
  /** Where a volume of this name is on a node, whether it is there or not. */
  path(node: string, name: string): string;
  /** Makes a folder there; with a limit it takes no more than so many bytes. */
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
  for (const claim of waiting(await list<Claim>(ask, claims))) {
    const volume = volumeFor(claim, disks);
    await disks.make(nodeOf(claim), volume.metadata.name, limitOf(claim));
    await ask({ method: 'POST', path: volumes, body: volume });
  }
  for (const { metadata } of released(await list<Volume>(ask, volumes))) {
    await disks.remove(metadata.annotations?.[nodeMark] ?? '', metadata.name);
    await ask({ method: 'DELETE', path: `${volumes}/${metadata.name}` });
  }
}

/** From the server's memory: a list a few times a second costs next to nothing. */
async function list<T>(ask: Ask, path: string): Promise<T[]> {
  const { status, body } = await ask({ path: `${path}?resourceVersion=0` });
  return status === 200 ? (body as { items: T[] }).items : [];
}

const selectedNode = 'volume.kubernetes.io/selected-node';
const nodeMark = 'baton.dev/node';

const nodeOf = ({ metadata }: Claim): string => metadata.annotations?.[selectedNode] ?? '';

/** How much a claim may hold, where its class keeps to that. */
export function limitOf({ spec }: Claim): bigint | undefined {
  if (spec.storageClassName !== limited) return undefined;
  return (quantityOf(spec.resources.requests.storage) ?? 0n) / 1_000_000_000n;
}

/** The claims whose pod has a node and that have no volume yet. */
export const waiting = (all: Claim[]): Claim[] =>
  all.filter(
    ({ metadata, spec }) =>
      ours.includes(spec.storageClassName ?? '') &&
      !spec.volumeName &&
      metadata.annotations?.[selectedNode] !== undefined,
  );

/** The volumes of ours whose claim is gone and that nobody wants to keep. */
export const released = (all: Volume[]): Volume[] =>
  all.filter(
    ({ metadata, spec, status }) =>
      metadata.annotations?.['pv.kubernetes.io/provisioned-by'] === provisioner &&
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
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner, [nodeMark]: node } },
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
