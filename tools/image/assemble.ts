// Puts our image together from what is on this machine, without a container tool: a layer each for the system, Node, the
// runtime of models and our programs, the most lasting first, so that a change of our code sends little. The same parts
// give the same digest, wherever and whenever it is done.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildLayer,
  type Descriptor,
  type Entry,
  type Layer,
  Layout,
  mediaType,
  named,
  platformOf,
} from '../../src/oci/index.ts';
import { trimmed } from './elf.ts';
import { KeptLayers } from './kept.ts';
import { home, inferenceEntries, nativeFiles, programEntries } from './programs.ts';
import { nobody, systemEntries } from './system.ts';

/** What an image is built from. */
export interface Checkout {
  root: string;
  /** Whose parts are taken. */
  machine: { platform: string; arch: string };
}

/** What is built, and where. */
export interface ImageOptions extends Checkout {
  /** The folder of the image layout; layers that are in it already are not built again. */
  folder: string;
  say: (line: string) => void;
}

/** A finished image. */
export interface BuiltImage {
  layout: Layout;
  image: Descriptor;
  layers: (Layer & { name: string })[];
}

const node = '/usr/local/bin/node';

/** How a container of the image is started; the Dockerfile says the same. */
export const start = {
  User: `${nobody}:${nobody}`,
  Env: ['PATH=/usr/local/bin:/usr/bin', 'NODE_ENV=production'],
  Entrypoint: [node, `/${home}/main.mjs`],
  WorkingDir: '/',
};

/** Builds the image for this machine's architecture into a layout. */
export async function buildImage({ root, folder, machine, say }: ImageOptions): Promise<BuiltImage> {
  const layout = await Layout.make(folder);
  const kept = await KeptLayers.in(layout);
  const layers: BuiltImage['layers'] = [];
  for (const [name, entries] of Object.entries(await partsOf({ root, machine }))) {
    const layer = await kept.layer(entries, () => {
      say(`packing ${name}`);
      return buildLayer(layout, entries);
    });
    layers.push({ name, ...layer });
  }
  const image = await writeImage(layout, layers, { version: versionOf(root), ...platformOf(machine) });
  return { layout, image, layers };
}

/** What the image is made of, one list for each layer, from what changes least. */
export async function partsOf({ root, machine: { arch, ...machine } }: Checkout): Promise<Record<string, Entry[]>> {
  const platform = platformOf({ arch, ...machine });
  if (platform.os !== 'linux')
    throw new Error(`an image for Linux cannot be put together on ${named(platform)}: use make docker-build`);
  const program = join(root, 'node_modules', `node-linux-${arch}`, 'bin', 'node');
  if (!existsSync(program)) throw new Error(`Node for linux/${arch} is missing in ${program}: run npm ci`);
  return {
    system: systemEntries([program, ...nativeFiles(root, arch)]),
    node: nodeEntries(program),
    inference: inferenceEntries(root, arch),
    programs: await programEntries(root),
  };
}

function nodeEntries(program: string): Entry[] {
  const licence = readFileSync(join(program, '..', '..', 'LICENSE'));
  return [
    { path: node, type: 'file', mode: 0o755, content: trimmed(readFileSync(program)) },
    { path: 'usr/share/doc/node/copyright', type: 'file', mode: 0o644, content: licence },
  ];
}

const versionOf = (root: string): string =>
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;

interface About {
  version: string;
  os: string;
  architecture: string;
}

/** The config and the manifest, whose only time is the beginning of time. */
async function writeImage(
  layout: Layout,
  layers: readonly Layer[],
  { version, os, architecture }: About,
): Promise<Descriptor> {
  const labels = { 'org.opencontainers.image.title': 'baton', 'org.opencontainers.image.version': version };
  const config = {
    created: '1970-01-01T00:00:00Z',
    architecture,
    os,
    config: { ...start, Labels: labels },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaType.manifest,
    config: await layout.writeBytes(Buffer.from(JSON.stringify(config)), mediaType.config),
    layers: layers.map(({ descriptor }) => descriptor),
    annotations: labels,
  };
  const image = await layout.writeBytes(Buffer.from(JSON.stringify(manifest)), mediaType.manifest);
  await layout.name(image, version);
  return image;
}
