// The door of the folder: what the operator shares with the program, so that both look in the same way.

export { digestAt, lookAt, type Looked, type Resolved } from './look.ts';
export { type Looking, openRegistry } from './registry.ts';
export { runInspect, type Surroundings } from './run.ts';
