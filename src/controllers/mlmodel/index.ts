// The door of the folder: the controller of MLModel, and what an operator decides for it.

export { mlModelController } from './controller.ts';
export { type Framework, frameworks } from './frameworks.ts';
export type { MLModelSettings } from './settings.ts';
