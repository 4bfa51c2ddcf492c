// Causes of failure, for every kind that has pods, Jobs or claims among its children.

export { balancerCause, waitsForAddress } from './balancer.ts';
export { type Cause, type CauseReason, causeReasons } from './cause.ts';
export { claimCause, expansionCause, unboundCause } from './claim.ts';
export { evictionCause, podEventCause, probeCause } from './events.ts';
export { jobCause } from './job.ts';
export { deploymentCause, isRefusal, makerEventCause } from './making.ts';
export { causeOfPods, notReadyCause, podCause, unreadyCause } from './pods.ts';
