// Pushing and pulling a large image against crane, the client that everybody uses, on one real registry: as one layer, and
// as eight. Both check what they pull; the registry checks what is pushed.

import { createCipheriv, createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { nodePrograms } from '../../controlplane/node/index.ts';
import { type Descriptor, Layout, mediaType } from '../../src/oci/index.ts';
import { startRegistry } from '../../tests/kit/registry.ts';
import { type Cost, measured } from '../download/process.ts';
import { atMost, type Figure } from '../figures.ts';
import { median } from '../table.ts';

export interface RegistryBenchOptions {
  rounds: number;
  /** Of the image. */
  bytes: number;
  say: (line: string) => void;
}

type Way = 'push' | 'pull';
type Side = 'crane' | 'ours';

/** One side in one round. */
export interface Turn extends Cost {
  way: Way;
  side: Side;
  layers: number;
}

export interface RegistryBenchResult {
  figures: Figure[];
  turns: Turn[];
}

interface Setting {
  folder: string;
  host: string;
  crane: string;
  ours: string;
  say: (line: string) => void;
}

const sides: readonly Side[] = ['crane', 'ours'];
const forms = [1, 8];

/** Measures both sides in turns. */
export async function benchRegistry({ rounds, bytes, say }: RegistryBenchOptions): Promise<RegistryBenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-registry-'));
  try {
    const { crane } = await nodePrograms(['crane']);
    await using registry = await startRegistry();
    const setting = { folder, host: registry.host, crane, ours: await bundled(folder), say };
    const turns: Turn[] = [];
    for (const layers of forms) {
      await anImage(join(folder, `image-${layers}`), layers, bytes);
      for (let round = 0; round < rounds; round += 1) turns.push(...(await inTurn(setting, layers, round)));
    }
    return { turns, figures: forms.flatMap((layers) => figuresOf(layers, turns)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ours as it would be shipped: one file of plain JavaScript. */
async function bundled(folder: string): Promise<string> {
  const outfile = join(folder, 'ours.mjs');
  const js = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  const form = { bundle: true, platform: 'node', format: 'esm', target: 'node24', banner: { js } } as const;
  await build({ entryPoints: [join(import.meta.dirname, 'ours.ts')], outfile, ...form });
  return outfile;
}

/** Both sides push, each into a repository of its own, then both pull; who begins changes. */
async function inTurn({ folder, host, crane, ours, say }: Setting, layers: number, round: number): Promise<Turn[]> {
  const turns: Turn[] = [];
  const order = round % 2 === 0 ? sides : sides.toReversed();
  for (const way of ['push', 'pull'] as const)
    for (const side of order) {
      const name = `${host}/bench/${side}-${layers}-${round}:1`;
      const at = way === 'push' ? join(folder, `image-${layers}`) : join(folder, `pulled-${side}`);
      const args = way === 'push' ? [at, name] : ['--format=oci', name, at];
      const cost = await (side === 'crane'
        ? measured(crane, [way, ...args])
        : measured(process.execPath, [ours, way, at, name]));
      say(`${way}, ${layers} of ${forms.join(' or ')} layers: ${side}: ${cost.elapsed.toFixed(2)} s`);
      turns.push({ way, side, layers, ...cost });
      if (way === 'pull') rmSync(at, { recursive: true });
    }
  return turns;
}

/** An image of bytes that nothing compresses. */
async function anImage(folder: string, count: number, bytes: number): Promise<void> {
  const layout = await Layout.make(folder);
  const layers: Descriptor[] = [];
  for (let number = 0; number < count; number += 1)
    layers.push(await aLayer(layout, `${count}-${number}`, bytes / count));
  const rootfs = { type: 'layers', diff_ids: layers.map(({ digest }) => digest) };
  const config = Buffer.from(JSON.stringify({ os: 'linux', architecture: 'amd64', rootfs }));
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaType.manifest,
    config: await layout.writeBytes(config, mediaType.config),
    layers,
  };
  const image = await layout.writeBytes(Buffer.from(JSON.stringify(manifest)), mediaType.manifest);
  await layout.name(image, 'latest');
}

async function aLayer(layout: Layout, seed: string, size: number): Promise<Descriptor> {
  const key = createHash('sha256').update(seed).digest().subarray(0, 16);
  const noise = createCipheriv('aes-128-ctr', key, key);
  const hash = createHash('sha256');
  async function* pieces() {
    for (let left = size; left > 0; left -= 1024 * 1024) {
      const piece = noise.update(Buffer.alloc(Math.min(left, 1024 * 1024)));
      hash.update(piece);
      yield piece;
    }
  }
  const digest = await layout.writeNew(pieces(), () => `sha256:${hash.digest('hex')}`);
  return { mediaType: mediaType.layer, digest, size };
}

function figuresOf(layers: number, turns: readonly Turn[]): Figure[] {
  return (['push', 'pull'] as const).flatMap((way) => {
    const of = (side: Side, field: keyof Cost) =>
      median(
        turns
          .filter((turn) => turn.side === side && turn.way === way && turn.layers === layers)
          .map((turn) => turn[field]),
      );
    const named = (name: string, value: number, unit: string): Figure => ({
      name: `${way}, ${layers === 1 ? 'one layer' : `${layers} layers`}: ${name}`,
      value,
      unit,
    });
    return [
      ...sides.map((side) => named(side, of(side, 'elapsed'), 's')),
      atMost(1, named('ours to crane', of('ours', 'elapsed') / of('crane', 'elapsed'), 'ratio')),
      ...sides.map((side) => named(`CPU of ${side}`, of(side, 'cpu'), 's')),
      atMost(128, named('memory of ours', of('ours', 'peak'), 'MiB')),
    ];
  });
}
