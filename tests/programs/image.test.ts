// Our own image, built from this machine and pushed to a real registry: the same digest wherever it is built, nothing sent
// twice, and whole in the eyes of the client that everybody uses.

import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { nodePrograms } from '../../controlplane/node/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { inspect, push, referenceOf, Registry } from '../../src/oci/index.ts';
import { buildImage, type BuiltImage } from '../../tools/index.ts';
import { startRegistry, type TestRegistry } from '../kit/registry.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'our-image-'));
const { platform, arch } = process;
let real: TestRegistry;
let crane: (...args: string[]) => Promise<string>;
let first: BuiltImage;

/** Another checkout of the same state. */
function copyOf(checkout: string, name: string): string {
  const at = join(folder, name);
  mkdirSync(at, { recursive: true });
  for (const part of ['src', 'package.json']) cpSync(join(checkout, part), join(at, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(at, 'node_modules'));
  return at;
}

const built = (checkout: string, into: string) =>
  buildImage({ root: checkout, folder: join(folder, into), machine: { platform, arch }, say: () => {} });

const layersOf = ({ layers }: BuiltImage) =>
  Object.fromEntries(layers.map(({ name, descriptor }) => [name, descriptor.digest]));

describe('our image', {
  skip: platform === 'linux' ? false : 'the parts of an image are those of a Linux machine',
}, () => {
  before(async () => {
    const [registry, programs] = await Promise.all([startRegistry(), nodePrograms(['crane'])]);
    real = registry;
    const env = { PATH: '/usr/bin:/bin', HOME: folder };
    crane = async (...args) =>
      (await promisify(execFile)(programs.crane, args, { env, timeout: 120_000 })).stdout.trim();
    first = await built(copyOf(root, 'one'), 'image-1');
  });
  after(async () => {
    await real?.stop();
    rmSync(folder, { recursive: true });
  });

  test('has the same digest from another checkout, built into another folder', async () => {
    const second = await built(copyOf(join(folder, 'one'), 'a/deeper/two'), 'b/image-2');
    deepEqual(layersOf(second), layersOf(first));
    equal(second.image.digest, first.image.digest);
  });

  test('has another layer of programs, and only that, when a program changes', async () => {
    const changed = copyOf(join(folder, 'one'), 'three');
    appendFileSync(join(changed, 'src', 'main.ts'), "process.title = 'baton';\n");
    const { programs, ...others } = layersOf(await built(changed, 'image-1'));
    const { programs: before_, ...same } = layersOf(first);
    deepEqual(others, same);
    notEqual(programs, before_);
  });

  test('is pushed once, is whole, starts our dispatcher as nobody, and nodes can mount it', async () => {
    await using registry = new Registry({ clock: systemClock, random: Math.random, plainHttp: [real.host] });
    const how: string[] = [];
    const { layout, image } = first;
    const onBlob = (_blob: unknown, way: string) => void how.push(way);
    const name = `${real.host}/baton:1`;
    equal((await push(registry, layout, { image, to: referenceOf(name), onBlob })).digest, image.digest);
    await push(registry, layout, { image, to: referenceOf(`${real.host}/baton:2`), onBlob });
    deepEqual([how.slice(0, 5), how.slice(5)], [Array(5).fill('uploaded'), Array(5).fill('present')]);
    await crane('validate', '--remote', name);
    const { config } = JSON.parse(await crane('config', name)) as { config: { User: string; Entrypoint: string[] } };
    deepEqual([config.User, config.Entrypoint], ['65532:65532', ['/usr/local/bin/node', '/baton/main.mjs']]);
    deepEqual((await inspect(registry, referenceOf(name))).mounting, { way: 'mount' });
  });
});
