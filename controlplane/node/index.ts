// The door of the real node and of the programs that tests on it use.
//
//   import { nodePrograms } from '../../controlplane/node/index.ts';
//
//   await using cluster = await startRealCluster({ nodes: 2 });             // a control plane and more; stop() ends all
//   const { registry, crane } = await nodePrograms(['registry', 'crane']);   // paths; builds only what is missing
//
// `skipReason()` is what a suite hands to `skip`: it names what this machine lacks.

export { type SmallImage, writeImage } from './image.ts';
export type { Agent, RealNode } from './node.ts';
export { type NodeProgram, nodePrograms } from './programs.ts';
export { registryIn, type S3 } from './services.ts';
export { footprint, prepareReal, type RealCluster, type RealOptions, startRealCluster } from './start.ts';
export { skipReason, whyNot } from './support.ts';
