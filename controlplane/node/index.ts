// The door of the real node and of the programs that tests on it use.
//
//   import { nodePrograms } from '../../controlplane/node/index.ts';
//
//   const { registry, crane } = await nodePrograms(['registry', 'crane']);   // paths; builds only what is missing

export { type NodeProgram, nodePrograms } from './programs.ts';
