// Where a campaign runs: one control plane with simulated nodes, one operator behind a proxy, a witness, and as many
// furnished namespaces as are asked for. Namespaces enforce the restricted profile, so that a pod without it never starts.

import { kindOf, type KubeObject, Namespace, Pod } from '../../src/objects/index.ts';
import type { MainOptions } from '../kit/main.ts';
import type { RunningOperator } from '../kit/process.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { keepLedger, type Ledger } from './ledger.ts';
import type { Mask, Meanings } from './meaning.ts';
import { always, type Share } from './state.ts';
import { watchAll, type Witness } from './witness.ts';

/** Between Deployments and pods. */
const ReplicaSet = kindOf<KubeObject>('apps/v1', 'ReplicaSet', 'replicasets');

export interface Ground {
  rig: Rig;
  table: Meanings;
  operator: RunningOperator;
  witness: Witness;
  ledger: Ledger;
  /** What is not compared; learned masks are added. */
  masks: Mask[];
  share: Share;
  /** Milliseconds in which everything must have come to rest. */
  patience: number;
  /** A furnished namespace. */
  namespace(): Promise<string>;
  stop(): Promise<void>;
}

/** Opens the ground for a kind. */
export async function openGround(table: Meanings, options: Partial<MainOptions> = {}): Promise<Ground> {
  const rig = await startRig({ nodes: 2 }, table.installed);
  return groundOn(rig, table, options);
}

/** The same on a control plane that is there. */
export async function groundOn(rig: Rig, table: Meanings, options: Partial<MainOptions>): Promise<Ground> {
  const witness = await watchAll(rig.admin, table.kind, [...table.children, ReplicaSet, Pod]);
  const operator = await rig.operator(options);
  return {
    rig,
    table,
    operator,
    witness,
    ledger: keepLedger(rig.proxy, table.kind.plural),
    masks: [...always, ...table.masks],
    share: { fields: 0, masked: 0 },
    patience: 60_000,
    namespace: () => furnished(rig, table),
    async stop() {
      witness.stop();
      await rig.stop();
    },
  };
}

/** A namespace in which pods must be restricted, with what the kind's meanings name. */
export async function furnished(rig: Rig, table: Meanings): Promise<string> {
  const namespace = await rig.namespace();
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await rig.apply(Namespace, { metadata: { name: namespace, labels } });
  await table.furnish(rig, namespace);
  return namespace;
}
