// Questions about the volume of a source: whether weights are on it, who uses it, and whether it can become what is
// asked. A claim holds on to most of what it was made with, so some wishes need another claim and some must wait.

import { labelValue, mark, type MLModel } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { PersistentVolumeClaim, type Pod, quantityOf, StorageClass } from '../../objects/index.ts';
import { podsIn } from '../../serving/index.ts';
import type { Revision } from './revision.ts';

/** Whether the weights are on a volume that will stay. */
export const isIntact = (claim: PersistentVolumeClaim | undefined): claim is PersistentVolumeClaim =>
  claim !== undefined && digestOn(claim) !== undefined && !isGoing(claim);

export const digestOn = ({ metadata }: PersistentVolumeClaim): string | undefined =>
  metadata.annotations?.[mark.digest];

/** Whether a claim is being deleted or has lost its volume: nothing that starts can use it. */
export const isGoing = ({ metadata, status }: PersistentVolumeClaim): boolean =>
  metadata.deletionTimestamp !== undefined || status?.phase === 'Lost';

/** Whether a revision could be served at once. */
export function hasWeights({ source }: Revision, seen: Observed): boolean {
  if (source.from === 'image') return true;
  if (source.from === 'registry') return false;
  if (source.from === 'download') return isIntact(seen.get(PersistentVolumeClaim, source.claim));
  const claim = seen.read(PersistentVolumeClaim, source.claim);
  return claim !== undefined && !isGoing(claim);
}

/** Pods that mount the weights of a claim. */
export const usersOf = (claim: string, component: 'server' | 'download', seen: Observed): Pod[] =>
  podsIn(seen).filter(
    ({ metadata: { labels } }) =>
      labels?.[mark.weights] === labelValue(claim) && labels['app.kubernetes.io/component'] === component,
  );

/** Whether a volume can have this size at all. */
export function isSize(size: string | number): boolean {
  const bytes = quantityOf(size);
  return bytes !== undefined && bytes > 0n && bytes <= (quantityOf('1Pi') ?? 0n);
}

/** Why a claim is not as asked. `grows`: it can become so. */
export type Mismatch = 'class' | 'smaller' | 'grows' | 'rigid';

/** How a claim differs from what is asked. */
export function mismatchOf({ spec }: MLModel, claim: PersistentVolumeClaim, seen: Observed): Mismatch | undefined {
  if ((spec.storageClassName ?? claim.spec.storageClassName) !== claim.spec.storageClassName) return 'class';
  const [asked, held] = [spec.storageSize, claim.spec.resources?.requests?.storage].map((size) =>
    quantityOf(size ?? ''),
  );
  if (asked === undefined || held === undefined || asked === held) return undefined;
  if (asked < held) return 'smaller';
  return claim.status?.phase === 'Bound' && canGrow(claim, seen) ? 'grows' : 'rigid';
}

/** Whether a volume is still smaller than what is asked of it. One that only waits for a pod to grow must not wait for us. */
export function isGrowing(model: MLModel, claim: PersistentVolumeClaim, seen: Observed): boolean {
  if (mismatchOf(model, claim, seen) === 'grows') return true;
  const { phase, capacity, conditions = [] } = claim.status ?? {};
  const [held, asked] = [capacity?.storage, claim.spec.resources?.requests?.storage].map((size) =>
    quantityOf(size ?? ''),
  );
  const waitsForPod = conditions.some(({ type, status }) => type === 'FileSystemResizePending' && status === 'True');
  return phase === 'Bound' && held !== undefined && asked !== undefined && held < asked && !waitsForPod;
}

/** A class that we cannot see may grow its volumes; if not, the API server says so. */
const canGrow = (claim: PersistentVolumeClaim, seen: Observed): boolean => {
  const kind = seen.read(StorageClass, claim.spec.storageClassName ?? '');
  return !kind || kind.allowVolumeExpansion === true;
};

/** Whether another claim must take the place of one that holds nothing yet and can never be as asked. */
export function mustBeReplaced(model: MLModel, claim: PersistentVolumeClaim, seen: Observed): boolean {
  if (digestOn(claim) !== undefined || usersOf(claim.metadata.name, 'server', seen).length > 0) return false;
  const mismatch = mismatchOf(model, claim, seen);
  return mismatch === 'class' || mismatch === 'rigid' || (mismatch === 'smaller' && claim.status?.phase !== 'Bound');
}
