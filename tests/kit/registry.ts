// A real registry on loopback for tests, open to everybody or to one user, and images of every sort to put into it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { nodePrograms } from '../../controlplane/node/index.ts';
import { systemClock } from '../../src/base/index.ts';
import {
  buildLayer,
  type Descriptor,
  Layout,
  mediaType,
  pushBlob,
  pushManifest,
  referenceOf,
  Registry,
} from '../../src/oci/index.ts';
import { eventually } from './eventually.ts';

/** Whom a closed registry lets in. Both words are canaries: they must show nowhere. */
export const user = { username: 'tester', password: 'not-a-secret' } as const;
/** The same for the registry, by bcrypt. */
const userLine = 'tester:$2y$05$abcdefghijklmnopqrstuuVPNOToLP9MHdthRCXkVoiIF0qNKnk2G\n';

/** The text of a pull secret for a registry. */
export const pullSecret = (host: string, { username, password } = user): string =>
  JSON.stringify({ auths: { [host]: { auth: Buffer.from(`${username}:${password}`).toString('base64') } } });

export interface TestRegistry extends AsyncDisposable {
  /** Address and port. */
  host: string;
  /** Puts something under `repository:tag` and tells its digest. */
  push(name: string, sort?: Sort): Promise<string>;
  stop(): Promise<void>;
}

/** `image`: nodes mount it. `artifact`: raw files with an empty config, of which nodes mount nothing. `index`: an image for two platforms. */
export type Sort = 'image' | 'artifact' | 'index';

/** Starts a registry; the content of `weights` differs between pushes. */
export async function startRegistry({ open = true } = {}): Promise<TestRegistry> {
  const { registry: program } = await nodePrograms(['registry']);
  const folder = mkdtempSync(join(tmpdir(), 'registry-'));
  const host = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(folder, 'users'), userLine);
  writeFileSync(join(folder, 'config.yaml'), stringify(settings(folder, host, open)));
  const child = spawn(program, ['serve', join(folder, 'config.yaml')], { stdio: 'ignore' });
  const leave = () => void child.kill('SIGKILL');
  process.once('exit', leave);
  await eventually(async () => (await fetch(`http://${host}/v2/`)).status < 500, {
    within: 20_000,
    what: 'a registry',
  });
  const client = new Registry({
    clock: systemClock,
    random: Math.random,
    plainHttp: [host],
    credentials: () => user,
  });
  const layout = await Layout.make(join(folder, 'layout'));
  let pushes = 0;
  const stop = async () => {
    process.off('exit', leave);
    await client.close();
    const gone = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    host,
    push: (name, sort = 'image') =>
      push({ client, layout, name: `${host}/${name}`, sort, content: `weights ${++pushes}` }),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const settings = (folder: string, addr: string, open: boolean) => ({
  version: '0.1',
  log: { level: 'error', accesslog: { disabled: true } },
  storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
  http: { addr },
  ...(!open && { auth: { htpasswd: { realm: 'test', path: join(folder, 'users') } } }),
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

interface Push {
  client: Registry;
  layout: Layout;
  name: string;
  sort: Sort;
  content: string;
}

async function push(what: Push): Promise<string> {
  const { client, name, sort } = what;
  const manifest = await (sort === 'artifact' ? artifact(what) : image(what));
  if (sort !== 'index') return (await put(client, name, manifest, mediaType.manifest)).digest;
  const inner = await put(client, `${name}-amd64`, manifest, mediaType.manifest);
  const platforms = ['amd64', 'arm64'].map((architecture) => ({ ...inner, platform: { os: 'linux', architecture } }));
  const index = { schemaVersion: 2, mediaType: mediaType.index, manifests: platforms };
  return (await put(client, name, index, mediaType.index)).digest;
}

const put = (client: Registry, name: string, document: object, type: string): Promise<Descriptor> =>
  pushManifest(client, referenceOf(name), { bytes: Buffer.from(JSON.stringify(document)), mediaType: type });

async function image({ client, layout, name, content }: Push): Promise<object> {
  const files = [{ path: 'model.onnx', type: 'file', mode: 0o644, content: Buffer.from(content) }] as const;
  const { descriptor: layer, diffId } = await buildLayer(layout, files);
  const rootfs = { type: 'layers', diff_ids: [diffId] };
  const text = JSON.stringify({ os: 'linux', architecture: 'amd64', config: {}, rootfs });
  const config = await layout.writeBytes(Buffer.from(text), mediaType.config);
  return sent(client, layout, name, { config, layers: [layer] });
}

async function artifact({ client, layout, name, content }: Push): Promise<object> {
  const config = await layout.writeBytes(Buffer.from('{}'), mediaType.empty);
  const layer = await layout.writeBytes(Buffer.from(content), 'application/octet-stream');
  return sent(client, layout, name, { config, layers: [layer] });
}

async function sent(
  client: Registry,
  layout: Layout,
  name: string,
  { config, layers }: { config: Descriptor; layers: Descriptor[] },
): Promise<object> {
  for (const blob of [config, ...layers]) await pushBlob(client, referenceOf(name), layout.source(blob));
  return { schemaVersion: 2, mediaType: mediaType.manifest, config, layers };
}
