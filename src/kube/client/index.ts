// The door of the client: talking to one API server.

export {
  type ClusterAccess,
  type Credential,
  inCluster,
  type InClusterPaths,
  type Tls,
} from './access.ts';
export type { RequestOptions } from './call.ts';
export {
  type ApplyOptions,
  Client,
  type ClientOptions,
  type CreateOptions,
  type DeleteOptions,
  type ListPage,
  type PatchOptions,
  type RawOptions,
  type ReadOptions,
  type UpdateOptions,
} from './client.ts';
export { ApiError, type Cause, type NoAnswer } from './errors.ts';
export type { Requested } from './exchange.ts';
export { type KubeconfigAccess, type KubeconfigOptions, loadKubeconfig } from './kubeconfig.ts';
export type { Ref } from './paths.ts';
export { readerOf } from './reader.ts';
export type { WatchHandler } from './stream.ts';
