// Our client against the real registry, beside the client that everybody uses: what one writes the other reads; cuts are
// mended; damage is refused; and nobody gets in without being known.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { nodePrograms } from '../../controlplane/node/index.ts';
import { systemClock } from '../../src/base/index.ts';
import {
  buildLayer,
  type Descriptor,
  digestOf,
  inspect,
  Layout,
  manifestOf,
  mediaType,
  pull,
  push,
  type PushOptions,
  referenceOf,
  Registry,
  type RegistryOptions,
  resolve,
} from '../../src/oci/index.ts';
import { startCutter } from '../kit/cutter.ts';
import { startRegistry, type TestRegistry, user } from '../kit/registry.ts';
import { startTokenServer } from '../kit/token-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'oci-'));
const megabyte = 1024 * 1024;
let real: TestRegistry;
let crane: (...args: string[]) => Promise<string>;

before(async () => {
  const [registry, programs] = await Promise.all([startRegistry(), nodePrograms(['crane'])]);
  real = registry;
  const env = { PATH: '/usr/bin:/bin', HOME: folder };
  crane = async (...args) => (await promisify(execFile)(programs.crane, args, { env, timeout: 60_000 })).stdout.trim();
});
after(async () => {
  await real?.stop();
  rmSync(folder, { recursive: true });
});

const client = (hosts: string | string[], options: Partial<RegistryOptions> = {}) =>
  new Registry({ clock: systemClock, random: Math.random, plainHttp: [hosts].flat(), ...options });

let made = 0;
const newLayout = () => Layout.make(join(folder, `layout-${(made += 1)}`));

/** An image whose first layer is of random bytes, which nothing compresses. */
async function anImage(layout: Layout, size = megabyte, architecture = 'amd64'): Promise<Descriptor> {
  const file = (path: string, content: Buffer) => ({ path, type: 'file', mode: 0o644, content }) as const;
  const layers = [
    await buildLayer(layout, [file('weights', randomBytes(size))]),
    await buildLayer(layout, [file('small', randomBytes(9))]),
  ];
  const rootfs = { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) };
  const config = Buffer.from(JSON.stringify({ os: 'linux', architecture, config: {}, rootfs }));
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaType.manifest,
    config: await layout.writeBytes(config, mediaType.config),
    layers: layers.map(({ descriptor }) => descriptor),
  };
  const image = await layout.writeBytes(Buffer.from(JSON.stringify(manifest)), mediaType.manifest);
  await layout.name(image, 'it');
  return image;
}

/** Pushes and tells what became of each blob. */
async function pushed(registry: Registry, name: string, layout: Layout, options: PushOptions = {}): Promise<string[]> {
  const how: string[] = [];
  const image = await layout.image('it');
  const to = referenceOf(name);
  const { digest } = await push(registry, layout, { ...options, image, to, onBlob: (_blob, way) => how.push(way) });
  equal(digest, image.digest);
  return how;
}

describe('beside crane', () => {
  test('crane finds what we pushed to be whole, an image and an index alike', async () => {
    await using registry = client(real.host);
    const layout = await newLayout();
    const image = await anImage(layout);
    const name = `${real.host}/ours/image:1`;
    deepEqual(await pushed(registry, name, layout), ['uploaded', 'uploaded', 'uploaded']);
    await crane('validate', '--remote', name);
    equal(await crane('digest', name), image.digest);

    const other = await anImage(layout, 100, 'arm64');
    const index = {
      schemaVersion: 2,
      mediaType: mediaType.index,
      manifests: [
        { ...image, platform: { os: 'linux', architecture: 'amd64' } },
        { ...other, platform: { os: 'linux', architecture: 'arm64' } },
      ],
    };
    const both = await layout.writeBytes(Buffer.from(JSON.stringify(index)), mediaType.index);
    await push(registry, layout, { image: both, to: referenceOf(`${real.host}/ours/index:1`) });
    await crane('validate', '--remote', `${real.host}/ours/index:1`);
    equal(await crane('digest', '--platform=linux/arm64', `${real.host}/ours/index:1`), other.digest);
  });

  test('we find what crane pushed to be what it was', async () => {
    await using registry = client(real.host);
    const layout = await newLayout();
    const image = await anImage(layout);
    const name = `${real.host}/theirs/image:1`;
    await crane('push', layout.folder, name);
    equal((await resolve(registry, referenceOf(name))).digest, image.digest);
    const mirror = await newLayout();
    equal((await pull(registry, referenceOf(name), mirror)).digest, image.digest);
    const blobs = ({ folder: at }: Layout) => readdirSync(join(at, 'blobs', 'sha256')).toSorted();
    deepEqual(blobs(mirror), blobs(layout));
    await crane('validate', '--remote', name);
  });

  test('an index is pulled whole, or for one platform', async () => {
    await using registry = client(real.host);
    const digest = await real.push('theirs/index:1', 'index');
    const reference = referenceOf(`${real.host}/theirs/index:1`);
    equal((await pull(registry, reference, await newLayout())).digest, digest);
    const platform = { os: 'linux', architecture: 'arm64' };
    const one = await pull(registry, reference, await newLayout(), { platform });
    equal(one.mediaType, mediaType.manifest);
    const none = { os: 'plan9', architecture: 'mips' };
    await rejects(pull(registry, reference, await newLayout(), { platform: none }), /no image for plan9\/mips/);
    const looked = await inspect(registry, reference);
    deepEqual([looked.digest, looked.mounting, looked.images.length], [digest, { way: 'mount' }, 2]);
  });

  test('an image goes from one repository to the next through our hands unchanged', async () => {
    await using registry = client(real.host);
    const digest = await real.push('first/it:1', 'index');
    const layout = await newLayout();
    const image = await pull(registry, referenceOf(`${real.host}/first/it:1`), layout);
    await push(registry, layout, { image, to: referenceOf(`${real.host}/second/it:1`) });
    equal(await crane('digest', `${real.host}/second/it:1`), digest);
  });
});

describe('what is there is not sent', () => {
  test('blobs that the repository has are passed over', async () => {
    await using registry = client(real.host);
    const layout = await newLayout();
    await anImage(layout);
    await pushed(registry, `${real.host}/again/a:1`, layout);
    deepEqual(await pushed(registry, `${real.host}/again/a:2`, layout), ['present', 'present', 'present']);
  });

  test('blobs of another repository are mounted, and not a byte of them travels', async () => {
    const layout = await newLayout();
    await anImage(layout, 3 * megabyte);
    await using registry = client(real.host);
    await pushed(registry, `${real.host}/mount/from:1`, layout);
    await using cutter = await startCutter(Number(real.host.split(':')[1]), {});
    await using watched = client(cutter.host);
    const how = await pushed(watched, `${cutter.host}/mount/to:1`, layout, { mountFrom: 'mount/from' });
    deepEqual(how, ['mounted', 'mounted', 'mounted']);
    ok(cutter.up < 20_000, `${cutter.up} bytes went up`);
    await crane('validate', '--remote', `${real.host}/mount/to:1`);
    const other = await newLayout();
    await anImage(other);
    const sent = await pushed(watched, `${cutter.host}/mount/other:1`, other, { mountFrom: 'mount/from' });
    deepEqual(sent, ['uploaded', 'uploaded', 'uploaded']);
  });
});

describe('cuts', () => {
  /** Much more than what the buffers of a machine hold, which a cut throws away. */
  const size = 40 * megabyte;

  for (const [what, chunk] of [
    ['in chunks', 4 * megabyte],
    ['in one piece', undefined],
  ] as const)
    test(`an upload ${what} goes on where the registry stands`, async () => {
      const layout = await newLayout();
      await anImage(layout, size);
      const cuts = { up: [9 * megabyte, 25 * megabyte + 77] };
      await using cutter = await startCutter(Number(real.host.split(':')[1]), cuts);
      await using registry = client(cutter.host);
      await pushed(registry, `${cutter.host}/cut/up-${chunk ?? 'whole'}:1`, layout, { chunk });
      equal(cutter.left(), 0);
      ok(cutter.up < 1.6 * size, `${cutter.up} bytes went up for ${size}`);
      await crane('validate', '--remote', `${real.host}/cut/up-${chunk ?? 'whole'}:1`);
    });

  test('a download goes on where it was', async () => {
    const layout = await newLayout();
    const image = await anImage(layout, size);
    await using straight = client(real.host);
    await pushed(straight, `${real.host}/cut/down:1`, layout);
    const cuts = { down: [9 * megabyte, 25 * megabyte + 13] };
    await using cutter = await startCutter(Number(real.host.split(':')[1]), cuts);
    await using registry = client(cutter.host);
    const mirror = await newLayout();
    equal((await pull(registry, referenceOf(`${cutter.host}/cut/down:1`), mirror)).digest, image.digest);
    equal(cutter.left(), 0);
    ok(cutter.down < 1.6 * size, `${cutter.down} bytes came down for ${size}`);
  });
});

describe('damage', () => {
  /** The file in which the registry keeps a blob. */
  const kept = ({ digest }: Descriptor) => {
    const [file = ''] = globSync(`${real.data}/**/blobs/sha256/*/${digest.slice(7)}/data`);
    ok(existsSync(file), digest);
    return file;
  };

  test('a blob with other bytes, and one that ends early, is refused, and nothing of it is left', async () => {
    await using registry = client(real.host, { random: () => 0 });
    const others = (file: string) => writeFileSync(file, randomBytes(statSync(file).size));
    for (const [size, spoil] of [
      [megabyte, others],
      [megabyte, (file: string) => truncateSync(file, 50)],
      [40 * megabyte, others], // hashed in a thread
    ] as const) {
      const layout = await newLayout();
      const image = await anImage(layout, size);
      const name = `${real.host}/damaged/${made}:1`;
      await pushed(registry, name, layout);
      const { content } = await layout.document(image);
      const layer = 'manifest' in content ? content.manifest.layers[0] : undefined;
      spoil(kept(layer ?? image));
      const mirror = await newLayout();
      await rejects(pull(registry, referenceOf(name), mirror), { reason: 'Digest' });
      deepEqual(readdirSync(join(mirror.folder, 'blobs')), ['sha256']);
      equal(existsSync(mirror.path(layer?.digest ?? '')), false);
    }
  });

  test('a blob that changed on our side is refused by the registry', async () => {
    await using registry = client(real.host);
    const layout = await newLayout();
    const image = await anImage(layout);
    const { content } = await layout.document(image);
    const layer = 'manifest' in content ? content.manifest.layers[0] : undefined;
    writeFileSync(layout.path(layer?.digest ?? ''), randomBytes(layer?.size ?? 0));
    await rejects(pushed(registry, `${real.host}/damaged/ours:1`, layout), {
      reason: 'Refused',
      codes: ['DIGEST_INVALID'],
    });
  });

  test('a manifest by another digest is refused', async () => {
    await using registry = client(real.host);
    await real.push('damaged/manifest:1');
    const reference = { ...referenceOf(`${real.host}/damaged/manifest:1`), digest: digestOf('another') };
    await rejects(manifestOf(registry, reference), { reason: 'NotFound', codes: ['MANIFEST_UNKNOWN'] });
  });
});

describe('who we are', () => {
  test('by name and password', async () => {
    await using closed = await startRegistry({ open: false });
    const layout = await newLayout();
    await anImage(layout);
    const name = `${closed.host}/private/it:1`;
    await using nobody = client(closed.host);
    await rejects(pushed(nobody, name, layout), { reason: 'Unauthorized', status: 401 });
    await using wrong = client(closed.host, { credentials: () => ({ ...user, password: 'wrong' }) });
    await rejects(pushed(wrong, name, layout), { reason: 'Unauthorized' });
    await using known = client(closed.host, { credentials: () => user });
    await pushed(known, name, layout);
    await rejects(pull(nobody, referenceOf(name), await newLayout()), { reason: 'Unauthorized' });
    await pull(known, referenceOf(name), await newLayout());
  });

  test('by tokens for just what is done, renewed before they end', async () => {
    await using tokens = await startTokenServer();
    await using closed = await startRegistry({ token: tokens.settings });
    const hosts = [closed.host, tokens.host];
    const layout = await newLayout();
    await anImage(layout);
    await using known = client(hosts, { credentials: () => user });
    await pushed(known, `${closed.host}/open/it:1`, layout);
    deepEqual([...new Set(tokens.asked)], ['repository:open/it:pull,push']);
    ok(tokens.asked.length <= 3, String(tokens.asked));

    const how = await pushed(known, `${closed.host}/private/it:1`, layout, { mountFrom: 'open/it' });
    deepEqual(how, ['mounted', 'mounted', 'mounted']);
    ok(tokens.asked.includes('repository:private/it:pull,push repository:open/it:pull'), String(tokens.asked));

    await using nobody = client(hosts);
    await pull(nobody, referenceOf(`${closed.host}/open/it:1`), await newLayout());
    await rejects(pull(nobody, referenceOf(`${closed.host}/private/it:1`), await newLayout()), {
      reason: 'Unauthorized',
    });
    await rejects(pushed(nobody, `${closed.host}/open/it:2`, layout), { reason: 'Unauthorized' });
    await using wrong = client(hosts, { credentials: () => ({ ...user, password: 'wrong' }) });
    await rejects(pull(wrong, referenceOf(`${closed.host}/open/it:1`), await newLayout()), {
      reason: 'Unauthorized',
      message: /the token server .* refuses: 401/,
    });

    tokens.life = 1;
    await using brief = client(hosts, { credentials: () => user });
    const sofar = tokens.asked.length;
    const reference = referenceOf(`${closed.host}/private/it:1`);
    await resolve(brief, reference);
    await new Promise((done) => setTimeout(done, 600));
    await resolve(brief, reference);
    equal(tokens.asked.length - sofar, 2);
  });
});
