// A token server for a real registry: it signs what is asked for, to the user that it knows, and keeps what it was asked.

import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { user } from './registry.ts';

export interface TokenServer extends AsyncDisposable {
  /** What a registry is told of it. */
  settings: Record<string, unknown>;
  host: string;
  /** The scopes that were asked for, one line a token. */
  asked: string[];
  /** Seconds that tokens say they live. */
  life: number;
}

const service = 'test-registry';
const issuer = 'test-tokens';
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Starts it. Everybody may pull from repositories below `open/`; the user may do everything. */
export async function startTokenServer(): Promise<TokenServer> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const folder = mkdtempSync(join(tmpdir(), 'tokens-'));
  const jwks = join(folder, 'jwks.json');
  writeFileSync(
    jwks,
    JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'ES256' }] }),
  );
  const asked: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const scopes = new URL(request.url ?? '', 'http://x').searchParams.getAll('scope');
    asked.push(scopes.join(' '));
    const known =
      request.headers.authorization === `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`;
    if (request.headers.authorization !== undefined && !known) return void response.writeHead(401).end();
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, aud: service, sub: 'x', nbf: now - 60, exp: now + 300, jti: String(asked.length) };
    const head = `${part({ typ: 'JWT', alg: 'ES256', kid: 'one' })}.${part({ ...claims, access: scopes.map((scope) => granted(scope, known)) })}`;
    const signature = sign('sha256', Buffer.from(head), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    response.end(JSON.stringify({ token: `${head}.${signature.toString('base64url')}`, expires_in: it.life }));
  };
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    rmSync(folder, { recursive: true });
  };
  const settings = { realm: `http://${host}/token`, service, issuer, jwks };
  const it: TokenServer = { settings, host, asked, life: 300, [Symbol.asyncDispose]: stop };
  return it;
}

function granted(scope: string, known: boolean): { type: string; name: string; actions: string[] } {
  const [type = '', name = '', actions = ''] = scope.split(':');
  const wanted = actions.split(',');
  return { type, name, actions: known ? wanted : wanted.filter((one) => one === 'pull' && name.startsWith('open/')) };
}
