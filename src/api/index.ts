// The door of the folder: what two processes agree on.

export * from './access.ts';
export * from './devicetemplate.ts';
export * from './images.ts';
export * from './labels.ts';
export * from './mlmodel.ts';
export * from './modeldeployment.ts';
export * from './names.ts';
export { type PodFields, podFields } from './podfields.ts';
export type { RolloutFields } from './rollout.ts';
export * from './programs.ts';
export * from './serve.ts';
