import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type TLSSocket } from 'node:tls';
import { ConfigMap } from '../../objects/index.ts';
import { ApiError, Client, loadKubeconfig } from './index.ts';
import {
  answer,
  eventually,
  makeAuthority,
  kubeconfigFor,
  MovableClock,
  type Reply,
  ScriptedPeer,
  streamHead,
} from '../../../tests/kit/scripted-peer.ts';

const folder = mkdtempSync(join(tmpdir(), 'tls-'));
after(() => rmSync(folder, { recursive: true }));

const authority = () => makeAuthority(Date.now());

/** A certificate and its key, for a server at these addresses or for a client of this name. */
function issue(
  by: ReturnType<typeof makeAuthority>,
  name: string,
  addresses: string[] = [],
): { cert: string; key: string } {
  const { certificate, key } = by.issue({ name, addresses });
  return { cert: certificate, key };
}

const ok: Reply = answer(200, { kind: 'ConfigMap' });
const ref = { namespace: 'shop', name: 'settings' };
const loopback = ['127.0.0.1'];
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const clientOf = (
  peer: ScriptedPeer,
  cluster: object,
  user: Record<string, unknown> = {},
  clock = new MovableClock(),
) =>
  new Client({
    cluster: loadKubeconfig(kubeconfigFor(`https://127.0.0.1:${peer.port}`, user, cluster)),
    clock,
  });

test('pitfall 24: a server that offers HTTP/2 is spoken to in HTTP/1.1', async () => {
  const ca = authority();
  const tls = { ...issue(ca, 'server', loopback), ALPNProtocols: ['h2', 'http/1.1'] };
  await using peer = await ScriptedPeer.start([ok], tls);
  const client = clientOf(peer, { 'certificate-authority': file('ca.crt', ca.certificate) });
  await client.get(ConfigMap, ref);
  assert.equal((peer.connections[0] as TLSSocket).alpnProtocol, 'http/1.1');
  await client.close();
});

test('pitfall 22: a new CA is read within a minute and builds new connections; what is open goes on', async () => {
  const [before, next] = [authority(), authority()];
  const path = file('rotating.crt', before.certificate);
  const watchOrAnswer: Reply = (socket, heard) =>
    heard.path.includes('watch') ? void socket.write(streamHead) : ok(socket, heard);
  await using peer = await ScriptedPeer.start([watchOrAnswer], issue(before, 'server', loopback));
  const clock = new MovableClock();
  const client = clientOf(peer, { 'certificate-authority': path }, {}, clock);
  await client.get(ConfigMap, ref);
  let open = false;
  const watch = client.watch(
    ConfigMap,
    'shop',
    {},
    { onOpen: () => void (open = true), onLine: () => {} },
    { signal: new AbortController().signal },
  );
  const ended = assert.rejects(watch, { reason: 'Closed' });
  await eventually(() => open);

  peer.rotate(issue(next, 'server', loopback));
  writeFileSync(path, next.certificate);
  clock.ahead = 61_000;
  await client.get(ConfigMap, ref);
  assert.equal(peer.connections.length, 3);
  await eventually(() => peer.sockets.size === 2, 2000); // the watch, and the new connection; the old idle one is gone
  await client.close();
  await ended;
  await eventually(() => peer.sockets.size === 0);
});

test('pitfall 22: a client certificate is shown, and a renewed one after a minute', async () => {
  const ca = authority();
  const tls = { ...issue(ca, 'server', loopback), requestCert: true, ca: ca.certificate };
  await using peer = await ScriptedPeer.start([ok], tls);
  const renew = (name: string) => {
    const { cert, key } = issue(ca, name);
    return { 'client-certificate': file('client.crt', cert), 'client-key': file('client.key', key) };
  };
  const clock = new MovableClock();
  const client = clientOf(peer, { 'certificate-authority': file('ca2.crt', ca.certificate) }, renew('first'), clock);
  const shown = async (): Promise<unknown> => {
    await client.get(ConfigMap, ref);
    return (peer.connections.at(-1) as TLSSocket).getPeerCertificate().subject?.CN;
  };
  assert.equal(await shown(), 'first');
  renew('second');
  assert.equal(await shown(), 'first');
  clock.ahead = 61_000;
  assert.equal(await shown(), 'second');
  await client.close();
});

test('a server that shows the certificate of a stranger is refused, unless verification is switched off', async () => {
  const [ours, theirs] = [authority(), authority()];
  await using peer = await ScriptedPeer.start([ok], issue(theirs, 'server', loopback));
  const client = clientOf(peer, { 'certificate-authority': file('ours.crt', ours.certificate) });
  await assert.rejects(client.get(ConfigMap, ref), (error) => {
    assert.ok(error instanceof ApiError);
    assert.match(error.message, /^cannot get ConfigMap shop\/settings: .*certificate/);
    return true;
  });
  assert.equal(peer.heard.length, 0);
  await client.close();
  const careless = clientOf(peer, { 'insecure-skip-tls-verify': true });
  await careless.get(ConfigMap, ref);
  await careless.close();
});

test('tls-server-name says which name the certificate must have', async () => {
  const ca = authority();
  await using peer = await ScriptedPeer.start([ok], issue(ca, 'server', ['api.test']));
  const path = file('named.crt', ca.certificate);
  const wrong = clientOf(peer, { 'certificate-authority': path });
  await assert.rejects(wrong.get(ConfigMap, ref), { status: 0, reason: 'Network' });
  await wrong.close();
  const right = clientOf(peer, { 'certificate-authority': path, 'tls-server-name': 'api.test' });
  await right.get(ConfigMap, ref);
  await right.close();
});
