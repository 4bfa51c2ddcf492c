// The door of the folder: the controller of ModelDeployment, and the pure functions in it, for tests that build a world of
// the same parts.

export { decide, modelDeploymentController } from './controller.ts';
export type { ModelDeploymentFacts } from './facts.ts';
export { resolveJob } from './image.ts';
export { cut, type Revision, revisionName } from './revision.ts';
export { annotated, serverLabels } from './server.ts';
