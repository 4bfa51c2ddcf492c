// Whole images between registries and layouts: blobs first and several at once, then the manifest, so that whoever sees a
// manifest finds everything that it names.

import { Hasher } from '../base/index.ts';
import { fetchBlob } from './blobs.ts';
import { Count, type Judge } from './digest.ts';
import { RegistryError } from './errors.ts';
import type { Layout } from './layout.ts';
import {
  type Descriptor,
  type Document,
  type Index,
  isIndex,
  isManifest,
  type Manifest,
  type Platform,
} from './manifest.ts';
import { choose } from './platform.ts';
import { type Reference, written } from './reference.ts';
import type { Registry } from './registry.ts';
import { type Bounded, manifestOf } from './resolve.ts';
import type { Sink } from './sink.ts';
import { together } from './together.ts';
import { pushBlob, pushManifest, type Uploaded, type UploadOptions } from './upload.ts';

const atOnce = 4;
/** Indexes may name indexes; nobody needs more than this. */
const deepest = 3;

export interface PullOptions extends Bounded {
  /** Only the image for this platform; else all that an index names. */
  platform?: Platform;
}

/** An image into a layout; gives what the reference meant, or the image for the platform. */
export async function pull(
  registry: Registry,
  reference: Reference,
  layout: Layout,
  { platform, signal }: PullOptions = {},
): Promise<Descriptor> {
  const bounds = signal ? { signal } : {};
  const top = await manifestOf(registry, reference, bounds);
  const document = platform ? await forPlatform(registry, reference, top, { platform, ...bounds }) : top;
  await pullDocument({ registry, reference, layout, bounds }, document, 0);
  await layout.name(document.descriptor, reference.tag ?? written(reference));
  return document.descriptor;
}

/** The manifest for a platform, which is the document itself where it is not an index. */
export async function forPlatform(
  registry: Registry,
  reference: Reference,
  top: Document,
  { platform, ...bounds }: Bounded & { platform: Platform },
): Promise<Document> {
  if (!('index' in top.content)) return top;
  const { digest } = choose(top.content.index, platform);
  return manifestOf(registry, { ...reference, digest }, bounds);
}

interface Pulling {
  registry: Registry;
  reference: Reference;
  layout: Layout;
  bounds: Bounded;
}

async function pullDocument(pulling: Pulling, document: Document, depth: number): Promise<void> {
  const { content, bytes, descriptor } = document;
  if ('manifest' in content) await pullBlobs(pulling, content.manifest);
  else await pullInner(pulling, content.index, depth + 1);
  await pulling.layout.writeBytes(bytes, descriptor.mediaType);
}

async function pullInner(pulling: Pulling, index: Index, depth: number): Promise<void> {
  if (depth > deepest) throw new RegistryError({ reason: 'Protocol', message: 'indexes that name indexes, too deep' });
  const { registry, reference, bounds } = pulling;
  for (const { digest } of documentsOf(index))
    await pullDocument(pulling, await manifestOf(registry, { ...reference, digest }, bounds), depth);
}

async function pullBlobs({ registry, reference, layout, bounds }: Pulling, manifest: Manifest): Promise<void> {
  const blobs = blobsOf(manifest);
  await using thread = blobs.some(isLarge) ? new Hasher() : undefined;
  await together(blobs, { atOnce, ...bounds }, async (blob, signal) => {
    if (await layout.has(blob)) return;
    const into = (sink: Sink, judge?: Judge) =>
      fetchBlob(registry, reference, blob, { sink, signal, ...(judge && { judge }) });
    if (thread && isLarge(blob)) await layout.fillHashed(blob, thread, (sink) => into(sink, new Count(blob)));
    else await layout.fill(blob.digest, into);
  });
}

/** Worth a thread for its hash, which the thread can take. */
const isLarge = ({ digest, size }: Descriptor): boolean => size >= 32 * 1024 * 1024 && digest.startsWith('sha256:');

export interface PushOptions extends UploadOptions {
  /** Told for each blob. */
  onBlob?: (blob: Descriptor, how: Uploaded) => void;
}

/** An image of a layout into a repository, under the tag of the reference; gives what is there then. */
export async function push(
  registry: Registry,
  layout: Layout,
  { image, to, ...options }: PushOptions & { image: Descriptor; to: Reference },
): Promise<Descriptor> {
  const { content, bytes, descriptor } = await layout.document(image);
  if ('manifest' in content) await pushBlobs(registry, layout, content.manifest, { to, ...options });
  else
    for (const inner of documentsOf(content.index)) {
      const { host, repository } = to;
      await push(registry, layout, { ...options, image: inner, to: { host, repository, digest: inner.digest } });
    }
  return pushManifest(registry, to, { bytes, mediaType: descriptor.mediaType }, options);
}

const pushBlobs = (
  registry: Registry,
  layout: Layout,
  manifest: Manifest,
  { to, onBlob, ...options }: PushOptions & { to: Reference },
): Promise<void> =>
  together(blobsOf(manifest), { atOnce, signal: options.signal }, async (blob, signal) => {
    const how = await pushBlob(registry, to, layout.source(blob), { ...options, signal });
    onBlob?.(blob, how);
  });

/** What a manifest is made of, each once. */
export const blobsOf = ({ config, layers }: Manifest): Descriptor[] => [
  ...new Map([config, ...layers].map((blob) => [blob.digest, blob])).values(),
];

const documentsOf = ({ manifests }: Index): Descriptor[] =>
  manifests.filter(({ mediaType }) => isIndex(mediaType) || isManifest(mediaType));
