// Conditions, the words in which every kind tells its state.

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
}

/** A condition of Kubernetes' own kinds, which need not say why. */
export interface LooseCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  observedGeneration?: number;
  lastTransitionTime?: string | null;
  lastProbeTime?: string | null;
}

/** The part of a status that the engine itself understands, the same for every kind. */
export interface CommonStatus {
  observedGeneration?: number;
  phase?: string;
  message?: string;
  conditions?: Condition[];
}

/** The condition of a type, if it is there. */
export const conditionOf = (status: CommonStatus | undefined, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);
