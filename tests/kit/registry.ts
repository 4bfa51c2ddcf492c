// A real registry on loopback for tests, open to everybody or to one user.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { nodePrograms } from '../../controlplane/node/index.ts';
import { eventually } from './eventually.ts';
import { type Pusher, pusherTo } from './images.ts';

/** Whom a closed registry lets in. Both words are canaries: they must show nowhere. */
export const user = { username: 'weights-reader', password: 'not-a-secret' } as const;
/** The same for the registry, by bcrypt. */
const userLine = 'weights-reader:$2y$05$abcdefghijklmnopqrstuuVPNOToLP9MHdthRCXkVoiIF0qNKnk2G\n';

/** The text of a pull secret for a registry. */
export const pullSecret = (host: string, { username, password } = user): string =>
  JSON.stringify({ auths: { [host]: { auth: Buffer.from(`${username}:${password}`).toString('base64') } } });

export interface TestRegistry extends Pusher {
  /** Address and port. */
  host: string;
  /** Where it keeps its content. */
  data: string;
  stop(): Promise<void>;
}

/** Whom a registry lets in: everybody, one user, or those with a token of a server that is named. */
export interface RegistryAccess {
  open?: boolean;
  token?: object;
  /** Where it listens, in place of loopback. */
  address?: string;
}

/** Starts a registry. */
export async function startRegistry(access: RegistryAccess = {}): Promise<TestRegistry> {
  const { open = true, token, address = '127.0.0.1' } = access;
  const { registry: program } = await nodePrograms(['registry']);
  const folder = mkdtempSync(join(tmpdir(), 'registry-'));
  const host = `${address}:${await freePort(address)}`;
  writeFileSync(join(folder, 'users'), userLine);
  writeFileSync(join(folder, 'config.yaml'), stringify(settings(folder, host, { open, ...(token && { token }) })));
  const child = spawn(program, ['serve', join(folder, 'config.yaml')], { stdio: 'ignore' });
  const leave = () => void child.kill('SIGKILL');
  process.once('exit', leave);
  await eventually(async () => (await fetch(`http://${host}/v2/`)).status < 500, {
    within: 20_000,
    what: 'a registry',
  });
  const pusher = await pusherTo(host, user);
  const stop = async () => {
    process.off('exit', leave);
    await pusher[Symbol.asyncDispose]();
    const gone = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    host,
    data: join(folder, 'data'),
    push: (...what) => pusher.push(...what),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const settings = (folder: string, addr: string, { open, token }: RegistryAccess) => ({
  version: '0.1',
  log: { level: 'error', accesslog: { disabled: true } },
  storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
  http: { addr },
  ...(open === false && { auth: { htpasswd: { realm: 'test', path: join(folder, 'users') } } }),
  ...(token && { auth: { token } }),
});

async function freePort(address: string): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
