// What a sample's life is played on: a cluster on this machine with a node of one sort, and a model that suits it. The rest
// of `make run` knows neither sort.

import type { ControlPlane } from '../../controlplane/index.ts';
import type { MLModel } from '../../src/api/index.ts';
import type { Client } from '../../src/kube/index.ts';
import type { Screen } from './screen.ts';

/** A cluster that is ready to be played on. */
export interface Stage {
  plane: ControlPlane;
  /** More flags for the operator. */
  flags: readonly string[];
  sample: MLModel;
  /** What is said when the sample has been applied. */
  applied: string;
  /** What stands beside the table. */
  remark: string;
  /** What the model answers once it is Ready, for people; throws where that is not what it should be. */
  proof(admin: Client): Promise<string | undefined>;
  /** What is worth knowing in the end. */
  farewell: string;
  /** Ends what was started beside the cluster, and the cluster. */
  stop(): Promise<void>;
}

/** Opens a stage and says what happens. */
export type OpenStage = (screen: Screen) => Promise<Stage>;

/** Where samples live. */
export const namespace = 'default';

/** The time since a moment, for people. */
export const seconds = (began: number): string => `${((performance.now() - began) / 1_000).toFixed(1)} s`;
