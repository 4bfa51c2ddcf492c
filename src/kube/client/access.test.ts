import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { answer, kubeconfigFor, MovableClock, type Reply, ScriptedPeer } from '../../../tests/kit/scripted-peer.ts';
import { ConfigMap } from '../../objects/index.ts';
import { Client, loadKubeconfig } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'access-'));
after(() => rmSync(folder, { recursive: true }));
const tokenFile = join(folder, 'token');
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'shop' } };
const ok = answer(200, settings);

/** A client whose token is in the file, and the tokens that its peer has seen. */
async function withTokenFile(script: Reply[]) {
  const peer = await ScriptedPeer.start(script);
  const clock = new MovableClock();
  const cluster = loadKubeconfig(kubeconfigFor(`http://127.0.0.1:${peer.port}`, { tokenFile }));
  const client = new Client({ cluster, clock });
  const tokens = () => peer.heard.map(({ headers }) => headers.find(([name]) => name === 'authorization')?.[1]);
  const close = async () => {
    await client.close();
    await peer[Symbol.asyncDispose]();
  };
  return { client, peer, clock, tokens, [Symbol.asyncDispose]: close };
}

test('401: the credential is read again and the same request is asked once more', async () => {
  writeFileSync(tokenFile, 'old\n');
  const rotate: Reply = (socket, heard) => {
    writeFileSync(tokenFile, 'new\n');
    answer(401, { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' })(socket, heard);
  };
  await using it = await withTokenFile([rotate, ok]);
  await it.client.update(ConfigMap, settings);
  assert.deepEqual(it.tokens(), ['Bearer old', 'Bearer new']);
  assert.equal(it.peer.heard[0]?.body, it.peer.heard[1]?.body);
});

test('pitfall 22: a token file is read again each minute, and one that is missing for a moment does no harm', async () => {
  writeFileSync(tokenFile, 'one');
  await using it = await withTokenFile([ok]);
  const asked = async (): Promise<string | undefined> => {
    await it.client.get(ConfigMap, settings.metadata);
    return it.tokens().at(-1);
  };
  assert.equal(await asked(), 'Bearer one');
  writeFileSync(tokenFile, 'two');
  assert.equal(await asked(), 'Bearer one');
  it.clock.ahead = 61_000;
  assert.equal(await asked(), 'Bearer two');
  rmSync(tokenFile);
  it.clock.ahead = 122_000;
  assert.equal(await asked(), 'Bearer two');
  assert.ok(it.peer.connections.length <= 2, 'a new token needs no new connection');
});
