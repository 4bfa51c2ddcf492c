// From fetched files to the files of the model: what is encoded is decoded, archives are unpacked, layers are laid over
// each other. Nothing is moved yet: the result says what belongs where.

import { mkdir, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Fetched } from './fetch/item.ts';
import { layout } from './layout.ts';
import { Refused } from './outcome.ts';
import { archiveKind, Places, unpack, type Unpacking, unsafe, usualLimits } from './unpack/index.ts';
import type { Move, Volume } from './volume/volume.ts';

/** What it works with. */
export interface Assembly {
  volume: Volume;
  url: string;
  framework: string;
  signal: AbortSignal;
  /** Throws when so many bytes more are too much for the volume. */
  room: (bytes: number) => Promise<void>;
}

/** Files of the model by their path, to where they are in our own folder. */
type Files = Map<string, string>;

/** Says which file belongs where on the volume. */
export async function assemble(fetched: readonly Fetched[], assembly: Assembly): Promise<Move[]> {
  const places = new Places();
  const files: Files = new Map();
  let single = false;
  for (const [index, one] of fetched.entries()) {
    const kind =
      one.becomes.as === 'layer'
        ? one.becomes.kind
        : one.becomes.as === 'anything'
          ? await archiveKind(one.at, one.path)
          : undefined;
    if (kind !== undefined) layOver(files, await unpacked(one.at, kind, `unpacked/${index}`, assembly));
    else {
      const taken = places.take(one.path, 'file');
      if (taken) throw unsafe(one.path, taken.wrong);
      files.set(one.path, relative(assembly.volume.own(), one.at));
      single = one.becomes.as === 'anything';
    }
  }
  if (files.size === 0) throw new Refused('EmptySource', emptiness(fetched, assembly));
  const laid = layout(assembly.framework, [...files.keys()], single);
  if ('wrong' in laid) throw new Refused('EmptySource', laid.wrong);
  return laid.places.map(([from, to]) => [files.get(from) ?? from, to]);
}

/** Only the name of an image may be told: other URLs may hold secrets. */
const emptiness = (fetched: readonly Fetched[], { url }: Assembly): string =>
  fetched.some(({ becomes }) => becomes.as === 'layer')
    ? `the layers of ${url} have no files in them; check modelURL`
    : 'the archive has no files in it; check modelURL';

/** The files of an archive, to where they are. */
async function unpacked(
  path: string,
  kind: Unpacking['kind'],
  folder: string,
  { volume, signal, room }: Assembly,
): Promise<Files> {
  const into = volume.own(folder);
  await rm(into, { recursive: true, force: true });
  await mkdir(into, { recursive: true });
  const names = await unpack({ path, kind, into, limits: usualLimits, signal, room }).catch(async (error: unknown) => {
    await rm(into, { recursive: true, force: true }); // what is refused half-way would only take room
    throw error;
  });
  return new Map(names.map((name) => [name, `${folder}/${name}`]));
}

/** Marks in layers of images: a file of this name takes another away, or all that lower layers put into a folder. */
const gone = '.wh.';
const allGone = '.wh..wh..opq';

/** Lays a layer over what is there: it takes away, then it adds and replaces. */
export function layOver(files: Files, layer: Files): void {
  for (const path of layer.keys()) {
    const slash = path.lastIndexOf('/') + 1;
    const [folder, name] = [path.slice(0, slash), path.slice(slash)];
    if (name === allGone) remove(files, folder);
    else if (name.startsWith(gone)) remove(files, `${folder}${name.slice(gone.length)}`);
  }
  for (const [path, from] of layer) {
    if (path.slice(path.lastIndexOf('/') + 1).startsWith(gone)) continue;
    remove(files, path);
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      files.delete(path.slice(0, end));
    files.set(path, from);
  }
}

/** Removes a file, or everything in a folder. */
function remove(files: Files, path: string): void {
  const start = path === '' || path.endsWith('/') ? path : `${path}/`;
  files.delete(path);
  for (const other of files.keys()) if (other.startsWith(start)) files.delete(other);
}
