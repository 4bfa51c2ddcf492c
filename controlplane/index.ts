// The door of the folder: a real Kubernetes control plane on loopback, for tests, benches and `make cluster-up`.
//
//   import { startControlPlane } from '../../controlplane/index.ts';
//
//   await using plane = await startControlPlane({ nodes: 1 });   // or stop() in `after`
//   await plane.kubectl(['apply', '-f', '-'], { stdin: manifest });
//   const { status, body } = await plane.request({ path: '/api/v1/namespaces/default/pods' });
//   const token = await plane.token('default', 'operator');      // plane.url, plane.caPem, plane.kubeconfigPath
//   await plane.restartApiServer();
//
// `{ controllers: 'none' }` starts only etcd and the API server. Nothing outlives the process that started it.

export type { Answer, Ask, Call } from './api.ts';
export { type Authority, type Credentials, type Identity, makeAuthority } from './certificates.ts';
export { ComponentFailure, type ComponentName } from './component.ts';
export { type Machine, thisMachine } from './machine.ts';
export type { Options } from './options.ts';
export type { ControlPlane, KubectlResult } from './plane.ts';
export { type Programs, programs } from './programs.ts';
export { requestsFile } from './recording.ts';
export { startControlPlane } from './start.ts';
export { goEnvironment, requireGo } from './versions/toolchain.ts';
