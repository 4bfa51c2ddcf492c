// What the layers of a manifest are to a model: archives of an image, files with a title, or what the model specification
// calls weights and code. Pure.

import type { Descriptor, Manifest } from '../../../oci/index.ts';
import type { Becomes } from '../fetch/item.ts';

/** A layer that is fetched: a file of its own, or an archive that is laid over what is there. */
export interface Piece {
  layer: Descriptor;
  path: string;
  becomes: Becomes;
}

const title = 'org.opencontainers.image.title';
const filepath = 'org.cncf.model.filepath';
/** Set by tools that push a folder as one compressed archive under the folder's name. */
const folder = 'io.deis.oras.content.unpack';

const imageLayer =
  /^application\/vnd\.(?:oci\.image\.layer\.v1\.|docker\.image\.rootfs\.diff\.)tar([+.](?:gzip|zstd))?$/;
const modelLayer = /^application\/vnd\.cncf\.model\.([a-z.]+)\.v1\.(raw|tar|tar\+gzip|tar\+zstd)$/;
/** Parts of a model that no server needs. */
const besides: ReadonlySet<string> = new Set(['doc', 'dataset']);

/** The pieces of a manifest, in its order. */
export const piecesOf = ({ layers }: Manifest): Piece[] =>
  layers.flatMap((layer, index) => pieceOf(layer, index) ?? []);

function pieceOf(layer: Descriptor, index: number): Piece | undefined {
  const { mediaType, annotations = {} } = layer;
  const [, part, form] = modelLayer.exec(mediaType) ?? [];
  const name = annotations[filepath] ?? annotations[title];
  if (part !== undefined && besides.has(part)) return undefined;
  if (form !== undefined && form !== 'raw') return archive(layer, index, form.replace('tar', ''));
  const image = imageLayer.exec(mediaType);
  if (image && (name === undefined || annotations[folder] === 'true')) return archive(layer, index, image[1] ?? '');
  if (annotations[folder] === 'true') return archive(layer, index, '+gzip');
  return name === undefined ? undefined : { layer, path: name, becomes: { as: 'file' } };
}

function archive(layer: Descriptor, index: number, compression: string): Piece {
  const kind = compression.endsWith('gzip') ? 'tar.gz' : compression.endsWith('zstd') ? 'tar.zst' : 'tar';
  return { layer, path: `layer-${index}`, becomes: { as: 'layer', kind } };
}
