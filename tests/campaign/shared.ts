// One control plane for several grounds, each with an operator of its own that sees one namespace alone: for planted faults,
// which must not see each other, and for what is played again.

import type { MainOptions } from '../kit/main.ts';
import { startRig } from '../kit/rig.ts';
import { furnished, groundOn, type Ground } from './ground.ts';
import type { Meanings } from './meaning.ts';
import { learnMasks } from './run.ts';
import { companyOn } from './walk.ts';

export interface SharedGround {
  /** A ground with an operator of its own. */
  open: (options: Partial<MainOptions>) => Promise<{ ground: Ground; close: () => Promise<void> }>;
  stop(): Promise<void>;
}

/** Starts the control plane, and learns what differs by its nature from an operator without a fault. */
export async function fixturesGround(table: Meanings): Promise<SharedGround> {
  const rig = await startRig({ nodes: 2 }, table.installed);
  const home = await furnished(rig, table);
  const first = await groundOn(rig, table, { namespaces: [home] });
  const own = { ...first, namespace: async () => home };
  await learnMasks(companyOn(own, []));
  await first.operator.stop();
  return {
    async open(options) {
      const namespace = await furnished(rig, table);
      const operator = await rig.operator({ ...options, namespaces: [namespace] });
      const ground = { ...first, operator, namespace: async () => namespace, patience: 20_000 };
      return { ground, close: () => operator.kill() };
    },
    stop: () => first.stop(),
  };
}
