// Images and artifacts in registries. The manifest decides what there is, and every blob is named by its digest; blobs are
// fetched like any other file, so they too survive cuts and restarts.

import { registryVerdicts } from '../../../api/index.ts';
import { connector, EgressDenied } from '../../../base/index.ts';
import {
  forPlatform,
  identityOf,
  type Manifest,
  manifestOf,
  platformOf,
  readReference,
  type Reference,
  Registry,
  RegistryError,
} from '../../../oci/index.ts';
import type { Item } from '../fetch/item.ts';
import { Fault, Refused } from '../outcome.ts';
import { type Piece, piecesOf } from './layers.ts';
import { type Look, type Means, placeOf } from './source.ts';

/** The layers of an image. */
export const lookAtImage: Look = async ({ url, digest }, means) => {
  const read = readReference(url);
  if ('wrong' in read) throw new Refused('SourceNotFound', read.wrong);
  const reference = { ...read.reference, ...(digest !== undefined && { digest }) };
  const registry = opened(means);
  means.open.use(registry);
  try {
    const { manifest, top } = await found(registry, reference, means);
    const pieces = piecesOf(manifest);
    if (pieces.length === 0)
      throw new Refused('EmptySource', `${url} has no layers that hold files: neither archives nor files with a title`);
    return { items: pieces.map((piece) => itemOf(piece, registry, reference)), digest: top };
  } catch (error) {
    means.signal.throwIfAborted();
    throw explained(error);
  }
};

function opened({ secrets, configs, dial, plainHttp, clock, random }: Means): Registry {
  const { credentials } = identityOf(secrets, configs);
  return new Registry({
    clock,
    random,
    credentials,
    plainHttp,
    connect: connector(dial),
    hopeless: (error) => error instanceof EgressDenied,
  });
}

async function found(
  registry: Registry,
  reference: Reference,
  { signal, machine }: Means,
): Promise<{ manifest: Manifest; top: string }> {
  const top = await manifestOf(registry, reference, { signal });
  const own = await forPlatform(registry, reference, top, { platform: platformOf(machine), signal });
  if (!('manifest' in own.content)) throw new Refused('EmptySource', 'the image is an index of indexes');
  return { manifest: own.content.manifest, top: top.descriptor.digest };
}

function itemOf({ layer, path, becomes }: Piece, registry: Registry, reference: Reference): Item {
  const [algorithm, sha256 = ''] = layer.digest.split(':');
  if (algorithm !== 'sha256') throw new Refused('EmptySource', `the layer ${layer.digest} is not named by a sha256`);
  return {
    path: placeOf(path),
    url: registry.urlOf(reference, `blobs/${layer.digest}`),
    authorize: async () => {
      const authorization = await registry.authorization(reference);
      return authorization === undefined ? {} : { authorization };
    },
    size: layer.size,
    sha256,
    becomes,
  };
}

/** What a registry's error means for the download. */
function explained(error: unknown): unknown {
  if (error instanceof EgressDenied) return new Refused('EgressDenied', error.message);
  if (!(error instanceof RegistryError)) return error;
  const verdict = registryVerdicts[error.reason];
  return verdict
    ? new Refused(verdict, error.message, error)
    : new Fault(error.message, { cause: error, again: 'never' });
}
