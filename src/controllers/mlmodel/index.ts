// The door of the folder: the controller of MLModel, what an operator decides for it, and the pure functions in it, for
// tests that build a world of the same parts.

export { decide, mlModelController } from './controller.ts';
export type { Exposure } from './exposure.ts';
export type { MLModelFacts } from './facts.ts';
export { inspectJob } from './inspect.ts';
export type { Looked, MLModelClients } from './registry.ts';
export { type Framework, frameworks } from './frameworks.ts';
export { cut, type Revision, revisionName, revisionObject } from './revision.ts';
export { server, serverLabels } from './server.ts';
export type { MLModelSettings } from './settings.ts';
export { attemptOf, type Found, type Source, sourceOf } from './source.ts';
export { downloadJob, weightsClaim } from './storage.ts';
