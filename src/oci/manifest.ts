// The documents of an image, as they come from strangers: read with bounds, and refused with the field that is wrong.
// Their bytes are kept beside what was read, because a digest is of bytes.

import * as z from 'zod';
import { digestOf, isDigest } from './digest.ts';
import { RegistryError } from './errors.ts';

/** The media types that we know. */
export const mediaType = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
  layerGzip: 'application/vnd.oci.image.layer.v1.tar+gzip',
  layerZstd: 'application/vnd.oci.image.layer.v1.tar+zstd',
  empty: 'application/vnd.oci.empty.v1+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  dockerIndex: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerConfig: 'application/vnd.docker.container.image.v1+json',
  dockerLayer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
} as const;

/** The largest manifest or index that is read. */
export const largestManifest = 4 * 1024 * 1024;
const mostLayers = 2_000;
const mostEntries = 1_000;

const platform = z.object({
  os: z.string(),
  architecture: z.string(),
  variant: z.string().optional(),
});

const descriptor = z.object({
  mediaType: z.string().min(1).max(255),
  digest: z.string().refine(isDigest, 'is not a digest'),
  size: z.int().min(0),
  platform: platform.optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  artifactType: z.string().optional(),
});

const manifest = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  artifactType: z.string().optional(),
  config: descriptor,
  layers: z.array(descriptor).max(mostLayers),
  annotations: z.record(z.string(), z.string()).optional(),
});

const index = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  artifactType: z.string().optional(),
  manifests: z.array(descriptor).max(mostEntries),
  annotations: z.record(z.string(), z.string()).optional(),
});

export type Platform = z.infer<typeof platform>;
/** Content by its type, digest and size. */
export type Descriptor = z.infer<typeof descriptor>;
/** One image or artifact: a config and layers. */
export type Manifest = z.infer<typeof manifest>;
/** Several manifests, mostly one a platform. */
export type Index = z.infer<typeof index>;

/** A document with the bytes that its digest is of. */
export interface Document {
  descriptor: Descriptor;
  bytes: Buffer;
  content: { manifest: Manifest } | { index: Index };
}

const manifests: ReadonlySet<string> = new Set([mediaType.manifest, mediaType.dockerManifest]);
const indexes: ReadonlySet<string> = new Set([mediaType.index, mediaType.dockerIndex]);

/** What to ask a registry for: all that we can read. */
export const acceptedManifests = [...manifests, ...indexes].join(', ');

export const isIndex = (type: string): boolean => indexes.has(type);
export const isManifest = (type: string): boolean => manifests.has(type);

/** Reads a manifest or an index. `type` is what the registry calls it; the document itself may know better. */
export function readDocument(bytes: Buffer, type: string | undefined): Document {
  if (bytes.length > largestManifest) throw tooLarge(bytes.length);
  const value = json(bytes);
  const said = z.object({ mediaType: z.string().optional() }).safeParse(value).data?.mediaType;
  const actual = known(said) ?? known(type?.split(';')[0]?.trim()) ?? guessed(value);
  if (actual === undefined)
    throw wrong(`it is ${said ?? type ?? 'of no type'}, not an image manifest or index that can be read`);
  const about = { mediaType: actual, digest: digestOf(bytes), size: bytes.length };
  return { descriptor: about, bytes, content: contentOf(value, actual) };
}

const contentOf = (value: unknown, type: string): Document['content'] =>
  isIndex(type) ? { index: parsed(index, value) } : { manifest: parsed(manifest, value) };

const known = (type: string | undefined): string | undefined =>
  type !== undefined && (isIndex(type) || isManifest(type)) ? type : undefined;

/** OCI documents need not name their own type, and some registries serve them as plain JSON. */
function guessed(value: unknown): string | undefined {
  if (manifest.safeParse(value).success) return mediaType.manifest;
  return index.safeParse(value).success ? mediaType.index : undefined;
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw wrong(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'cannot be read'}`);
}

function json(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch (cause) {
    throw wrong('it is not JSON', cause);
  }
}

/** The error for a document that is over the limit. */
export const tooLarge = (size: number): RegistryError =>
  new RegistryError({
    reason: 'TooLarge',
    message: `the manifest has ${size} bytes; at most ${largestManifest} are read`,
  });

const wrong = (why: string, cause?: unknown): RegistryError =>
  new RegistryError({ reason: 'Protocol', message: `the manifest cannot be used: ${why}`, cause });
