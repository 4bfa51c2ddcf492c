// From fetched files to the files of the model: what is encoded is decoded, archives are unpacked, layers are laid over
// each other. Nothing is moved yet: the result says what belongs where.

import { mkdir, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Fetched } from './fetch/item.ts';
import { layout } from './layout.ts';
import { Refused } from './outcome.ts';
import { type Files, layOver, putOver } from './overlay.ts';
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

/** Says which file belongs where on the volume. */
export async function assemble(fetched: readonly Fetched[], assembly: Assembly): Promise<Move[]> {
  const places = new Places();
  const files: Files = new Map();
  let plain: Files = new Map();
  let single = false;
  for (const [index, one] of fetched.entries()) {
    const kind =
      one.becomes.as === 'layer'
        ? one.becomes.kind
        : one.becomes.as === 'anything'
          ? await archiveKind(one.at, one.path)
          : undefined;
    if (kind !== undefined) {
      putOver(files, plain);
      plain = new Map();
      layOver(files, await unpacked(one.at, kind, `unpacked/${index}`, assembly));
    } else {
      const taken = places.take(one.path, 'file');
      if (taken) throw unsafe(one.path, taken.wrong);
      plain.set(one.path, relative(assembly.volume.own(), one.at));
      single = one.becomes.as === 'anything';
    }
  }
  putOver(files, plain);
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
