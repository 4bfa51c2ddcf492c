// A look at an image without fetching its layers: which digest a tag means, how large it is, and whether a node can mount
// it. An index is mountable only when all its images are: nobody knows yet on which node the pod will be.

import { blobWhole } from './blobs.ts';
import { RegistryError } from './errors.ts';
import type { Document, Manifest, Platform } from './manifest.ts';
import { hasImageConfig, type Mounting, mounting } from './mounting.ts';
import { images } from './platform.ts';
import { type Reference, written } from './reference.ts';
import type { Registry } from './registry.ts';
import { type Bounded, manifestOf } from './resolve.ts';

/** What a look tells. */
export interface Inspected {
  /** Of the manifest or index that the reference means now. */
  digest: string;
  mediaType: string;
  mounting: Mounting;
  images: InspectedImage[];
}

/** One image behind a reference. */
export interface InspectedImage {
  digest: string;
  platform?: Platform;
  /** Bytes of all layers, as they are sent. */
  size: number;
  layers: { mediaType: string; digest: string; size: number; title?: string }[];
}

const mostImages = 32;
const largestConfig = 4 * 1024 * 1024;

/** Looks at what a reference means. */
export async function inspect(registry: Registry, reference: Reference, bounds: Bounded = {}): Promise<Inspected> {
  const top = await manifestOf(registry, reference, bounds);
  const found = await imagesOf(registry, reference, top, bounds);
  const judged = await inTurn(found, ({ manifest }) => judge(registry, reference, manifest, bounds));
  const bad = judged.find(({ way }) => way === 'download');
  const none: Mounting = { way: 'download', why: 'it names no image' };
  return {
    digest: top.descriptor.digest,
    mediaType: top.descriptor.mediaType,
    mounting: bad ?? judged[0] ?? none,
    images: found.map(told),
  };
}

interface Found {
  digest: string;
  platform: Platform | undefined;
  manifest: Manifest;
}

async function imagesOf(registry: Registry, reference: Reference, top: Document, bounds: Bounded): Promise<Found[]> {
  const { content, descriptor } = top;
  if ('manifest' in content) return [{ digest: descriptor.digest, platform: undefined, manifest: content.manifest }];
  const entries = images(content.index);
  if (entries.length > mostImages)
    throw unusable(reference, `it names ${entries.length} images; ${mostImages} are read`);
  return inTurn(entries, async ({ digest, platform }) => {
    const inner = await manifestOf(registry, { ...reference, digest }, bounds);
    if (!('manifest' in inner.content)) throw unusable(reference, 'it is an index of indexes');
    return { digest, platform, manifest: inner.content.manifest };
  });
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

async function judge(registry: Registry, reference: Reference, manifest: Manifest, bounds: Bounded): Promise<Mounting> {
  if (!hasImageConfig(manifest)) return mounting(manifest, undefined);
  const bytes = await blobWhole(registry, reference, manifest.config, { ...bounds, most: largestConfig });
  return mounting(manifest, parsed(bytes));
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function told({ digest, platform, manifest }: Found): InspectedImage {
  const layers = manifest.layers.map(({ mediaType, digest: layer, size, annotations }) => {
    const title = annotations?.['org.opencontainers.image.title'];
    return { mediaType, digest: layer, size, ...(title !== undefined && { title }) };
  });
  const size = layers.reduce((sum, layer) => sum + layer.size, 0);
  return { digest, size, layers, ...(platform && { platform }) };
}

const unusable = (reference: Reference, why: string): RegistryError =>
  new RegistryError({ reason: 'Protocol', message: `${written(reference)} cannot be used: ${why}` });
