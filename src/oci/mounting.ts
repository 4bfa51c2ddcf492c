// Whether a container runtime can mount an image as a volume with its files in it. It mounts more than that: what is no
// real image becomes an empty folder without a word, or an error when the container starts. So only what is known to
// work is said to work, and everything else is downloaded.

import { digestOf } from './digest.ts';
import { type Descriptor, type Manifest, mediaType } from './manifest.ts';

/** How the files of a manifest reach a pod. */
export type Mounting = { way: 'mount' } | { way: 'download'; why: string };

const configs: ReadonlySet<string> = new Set([mediaType.config, mediaType.dockerConfig]);
const layerTypes: ReadonlySet<string> = new Set([
  mediaType.layer,
  mediaType.layerGzip,
  mediaType.layerZstd,
  mediaType.dockerLayer,
]);

/** A layer in which there is nothing: builders write it for steps that change no file. */
const nothing: ReadonlySet<unknown> = new Set([1_024, 10_240].map((size) => digestOf(Buffer.alloc(size))));

/** Whether the config of a manifest is one to look into. */
export const hasImageConfig = ({ config }: Manifest): boolean => configs.has(config.mediaType);

/** Judges a manifest by itself and by the content of its config, if that is an image's. */
export function mounting(manifest: Manifest, config: unknown): Mounting {
  const why = configFault(manifest) ?? layersFault(manifest.layers) ?? rootFault(manifest.layers, diffIds(config));
  return why === undefined ? { way: 'mount' } : { way: 'download', why };
}

const configFault = (manifest: Manifest): string | undefined =>
  hasImageConfig(manifest) ? undefined : `its config is ${manifest.config.mediaType}, not that of an image`;

function layersFault(layers: readonly Descriptor[]): string | undefined {
  if (layers.length === 0) return 'it has no layers';
  const odd = layers.find((layer) => !layerTypes.has(layer.mediaType));
  return odd && `a layer is ${odd.mediaType}, not a tar archive of an image`;
}

function rootFault(layers: readonly Descriptor[], ids: readonly unknown[] | undefined): string | undefined {
  if (!ids) return 'its config names no rootfs.diff_ids';
  if (ids.length !== layers.length) return `its config names ${ids.length} layers, and it has ${layers.length}`;
  return ids.every((id) => nothing.has(id)) ? 'its layers are empty' : undefined;
}

function diffIds(config: unknown): readonly unknown[] | undefined {
  const { rootfs } = (config ?? {}) as { rootfs?: { diff_ids?: unknown } | null };
  const ids = rootfs?.diff_ids;
  return Array.isArray(ids) ? ids : undefined;
}
