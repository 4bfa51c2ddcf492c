// The door of the folder: what kinds share whose pods serve. Pure functions of what the cache saw, and the facts that they need.

export { type Asked, endedPodsOf, eventsOf, jobEventsOf, manifestOf, podEventsOf } from './facts.ts';
export { formerRevisions } from './history.ts';
export { imageJob, type ProgramSettings, programJob, sourceAccess, type Task } from './job.ts';
export {
  attemptIn,
  byName,
  failureOf,
  hasSucceeded,
  type InJob,
  inJob,
  type JobFacts,
  lastWord,
  podsOf,
} from './jobs.ts';
export {
  imageBehind,
  type Looking,
  type LookFacts,
  pinned,
  type Question,
  type Unread,
  untold,
} from './look.ts';
export { budget, clusterService } from './network.ts';
export type { Named, Served, Sized } from './parent.ts';
export { annotationsOf, containerBasics, defined, podBasics, pullPolicyOf, startingFields } from './pod.ts';
export { podsIn, serversOf } from './pods.ts';
export type { Image, Looked, Refused, Registry, RegistryClients, Resolved } from './registry.ts';
export {
  isOutdated,
  nextNumber,
  objectsOf,
  type Revision,
  revisionHash,
  revisionObject,
  revisionsIn,
  sameRendered,
  type Stored,
} from './revision.ts';
export { type Rollout, rolloutOf, stuckServer, toldTo } from './rollout.ts';
export { type Program, type Running, serverDeployment, serverPods, type Takeover } from './server.ts';
export { bounded, type Going, servingStage, type Stage, type Standing } from './stage.ts';
export { type Target, targetOf } from './target.ts';
export { commonStatusOf, type Verdict, verdict } from './verdict.ts';
export {
  failure,
  gap,
  meanwhile,
  outdatedVerdict,
  reasonOf,
  selectorOf,
  servingRevision,
  summaryOf,
} from './words.ts';
