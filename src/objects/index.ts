// The door of the folder: shapes of Kubernetes objects, and pure questions about them.

export * from './builtin.ts';
export * from './causes/index.ts';
export * from './condition.ts';
export * from './kind.ts';
export * from './kmm.ts';
export * from './kstatus.ts';
export * from './labels.ts';
export * from './network.ts';
export * from './pod.ts';
export * from './quantity.ts';
export * from './questions.ts';
