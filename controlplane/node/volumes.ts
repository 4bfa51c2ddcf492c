// Makes the volumes of the default class: a folder on the disk of the node that the scheduler chose, as a `local`
// volume, whose group the kubelet sets as a pod asks. Removes them when their claim is gone.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from '../api.ts';
import { localClass, provisioner } from './objects.ts';

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
const { name: className } = localClass.metadata;

/** Begins to serve claims; the end is awaited by calling what it gives. */
export function serveClaims(ask: Ask, folderOf: (node: string) => string): () => Promise<void> {
  const ending = new AbortController();
  const serve = async () => {
    while (!ending.signal.aborted) {
      // A server that is down or slow is asked again.
      await serveOnce(ask, folderOf).catch(() => {});
      await sleep(every, undefined, { signal: ending.signal, ref: false }).catch(() => {});
    }
  };
  const served = serve();
  return async () => {
    ending.abort();
    await served;
  };
}

async function serveOnce(ask: Ask, folderOf: (node: string) => string): Promise<void> {
  for (const claim of waiting(await list<Claim>(ask, claims))) {
    const volume = volumeFor(claim, folderOf);
    mkdirSync(volume.spec.local.path, { recursive: true });
    await ask({ method: 'POST', path: volumes, body: volume });
  }
  for (const { metadata } of released(await list<Volume>(ask, volumes))) {
    const path = metadata.annotations?.[folderMark];
    if (path) rmSync(path, { recursive: true, force: true });
    await ask({ method: 'DELETE', path: `${volumes}/${metadata.name}` });
  }
}

/** From the server's memory: a list a few times a second costs next to nothing. */
async function list<T>(ask: Ask, path: string): Promise<T[]> {
  const { status, body } = await ask({ path: `${path}?resourceVersion=0` });
  return status === 200 ? (body as { items: T[] }).items : [];
}

const selectedNode = 'volume.kubernetes.io/selected-node';
const folderMark = 'baton.dev/folder';

/** The claims whose pod has a node and that have no volume yet. */
export const waiting = (all: Claim[]): Claim[] =>
  all.filter(
    ({ metadata, spec }) =>
      spec.storageClassName === className && !spec.volumeName && metadata.annotations?.[selectedNode] !== undefined,
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
export function volumeFor({ metadata, spec }: Claim, folderOf: (node: string) => string) {
  const node = metadata.annotations?.[selectedNode] ?? '';
  const name = `pvc-${metadata.uid}`;
  const path = join(folderOf(node), name);
  const { name: claim, namespace, uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner, [folderMark]: path } },
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
      storageClassName: className,
    },
  };
}
