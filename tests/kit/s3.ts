// A real S3 server on loopback, on a folder in which a test puts what the buckets hold.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { nodePrograms } from '../../controlplane/node/index.ts';
import { eventually } from './eventually.ts';

/** Whom it lets in. Both words are canaries: they must show nowhere. */
export const s3User = { accessKeyID: 'canary-key-91c2', secretAccessKey: 'canary-secret-91c2' } as const;

export interface TestS3 extends AsyncDisposable {
  /** Like `http://127.0.0.1:7070`. */
  endpoint: string;
  /** Makes a bucket, or puts an object into it: `bucket/key`. */
  put(path: string, content?: Buffer | string): Promise<void>;
}

/** Starts the server; `virtualHosts`: buckets also answer as hosts below this domain. */
export async function startS3({ virtualHosts }: { virtualHosts?: string } = {}): Promise<TestS3> {
  const { versitygw: program } = await nodePrograms(['versitygw']);
  const folder = mkdtempSync(join(tmpdir(), 's3-'));
  mkdirSync(join(folder, 'data'));
  const address = `127.0.0.1:${await freePort()}`;
  const domain = virtualHosts === undefined ? [] : ['--virtual-domain', virtualHosts];
  const args = [
    '--region',
    'eu-test-1',
    '--port',
    address,
    '--health',
    '/health',
    ...domain,
    'posix',
    join(folder, 'data'),
  ];
  const env = { ROOT_ACCESS_KEY_ID: s3User.accessKeyID, ROOT_SECRET_ACCESS_KEY: s3User.secretAccessKey };
  const child = spawn(program, args, { stdio: 'ignore', env });
  const leave = () => void child.kill('SIGKILL');
  process.once('exit', leave);
  await eventually(async () => (await fetch(`http://${address}/health`)).ok, { within: 20_000, what: 'an S3 server' });
  const endpoint = `http://${address}`;
  return {
    endpoint,
    put: (path, content) =>
      putObject(`${endpoint}/${path.split('/').map(encodeURIComponent).join('/')}`, content, {
        ...s3User,
        region: 'eu-test-1',
      }),
    async [Symbol.asyncDispose]() {
      process.off('exit', leave);
      const gone = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGKILL')) await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Makes a bucket, or puts an object into it, at any such server. */
export async function putObject(
  url: string,
  content: Buffer | string | undefined,
  { accessKeyID: accessKeyId, secretAccessKey, region }: Record<keyof typeof s3User | 'region', string>,
): Promise<void> {
  const signer = new AwsV4Signer({ url, method: 'PUT', accessKeyId, secretAccessKey, service: 's3', region });
  const { headers } = await signer.sign();
  const answer = await fetch(url, {
    method: 'PUT',
    headers,
    ...(content !== undefined && { body: new Uint8Array(Buffer.from(content)) }),
  });
  if (!answer.ok) throw new Error(`PUT ${url}: ${answer.status} ${await answer.text()}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
