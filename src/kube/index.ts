// The door of the engine: what runs controllers. Controllers themselves come in by the other door, define.ts.

export { ApiError, Client, type ClusterAccess, inCluster, loadKubeconfig, readerOf } from './client/index.ts';
export * from './define.ts';
export { CannotListen } from './health.ts';
export { startOperator, type Operator, type OperatorOptions } from './operator.ts';
export { Election, type ElectionOptions, type LeaseTimes, NotLeading } from './lease.ts';
export { type Installation, manifestsOf, needsOf, type PolicyRule, rulesOf } from './rbac.ts';
export { defaultLimits, type Limits } from './watch.ts';
