// The door of the folder: OCI images in registries and in folders, with every digest checked.

export { blobBytes, blobWhole, fetchBlob, hasBlob } from './blobs.ts';
export { type Credential, type Credentials, dockerCredentials } from './credentials.ts';
export { Check, checked, digestOf, type Expected, isDigest } from './digest.ts';
export { mayPass, type Reason, RegistryError } from './errors.ts';
export { type Identity, identityOf } from './identity.ts';
export { inspect, type Inspected, type InspectedImage } from './inspect.ts';
export { buildLayer, type Layer, type LayerOptions } from './layer.ts';
export { Layout } from './layout.ts';
export {
  type Descriptor,
  type Document,
  type Index,
  isIndex,
  isManifest,
  type Manifest,
  mediaType,
  type Platform,
  readDocument,
} from './manifest.ts';
export { type Mounting, mounting } from './mounting.ts';
export { choose, named, platformOf } from './platform.ts';
export type { Connect } from './recycled.ts';
export { type Place, readReference, type Reference, referenceOf, written } from './reference.ts';
export { Registry, type RegistryOptions } from './registry.ts';
export { type Bounded, manifestOf, resolve } from './resolve.ts';
export type { Sink } from './sink.ts';
export type { Entry, Owner } from './tar.ts';
export { blobsOf, forPlatform, pull, type PullOptions, push, type PushOptions } from './transfer.ts';
export { type BlobSource, pushBlob, pushManifest, type Uploaded, type UploadOptions } from './upload.ts';
