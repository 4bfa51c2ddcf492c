// An upload against a peer that keeps to the letter of the protocol, or not: lost answers, forgotten uploads, places that
// are elsewhere. What really happens in a registry is tested on a real one.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasty } from '../../tests/kit/registry-talk.ts';
import { answer, type Heard, type Reply, ScriptedPeer } from '../../tests/kit/scripted-peer.ts';
import { digestOf } from './digest.ts';
import { mediaType } from './manifest.ts';
import { referenceOf } from './reference.ts';
import { Registry, type RegistryOptions } from './registry.ts';
import { type BlobSource, pushBlob, pushManifest, type UploadOptions } from './upload.ts';

const text = 'abcdefghij';
const source: BlobSource = {
  digest: digestOf(text),
  size: text.length,
  async *open(start, end) {
    yield Buffer.from(text.slice(start, end));
  },
};

/** What was said to the peer, in short. */
const told = ({ method, path, headers, body }: Heard): string => {
  const range = headers.find(([name]) => name === 'content-range')?.[1];
  return [method, path.replace(/digest=.*/, 'digest').replace('/v2/a/blobs/', ''), range, body]
    .filter(Boolean)
    .join(' ');
};

/** Pushes a blob to a peer with this script; a script may look at the port of the peer. */
async function pushed(script: (port: () => number) => Reply[], options: UploadOptions & Partial<RegistryOptions> = {}) {
  const replies: Reply[] = [];
  await using peer = await ScriptedPeer.start(replies);
  replies.push(...script(() => peer.port));
  const host = `127.0.0.1:${peer.port}`;
  await using registry = new Registry({ clock: hasty, random: () => 0, plainHttp: [host], ...options });
  const outcome = await pushBlob(registry, referenceOf(`${host}/a`), source, options).catch((error: unknown) => error);
  return { outcome, heard: peer.heard.map(told) };
}

const missing: Reply = (socket) => socket.write('HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n');
const present: Reply = (socket) => socket.write('HTTP/1.1 200 Yes\r\ncontent-length: 10\r\n\r\n');
const at = (location: string, more: Record<string, string> = {}) => answer(202, '', { location, ...more });
const stands =
  (location: string, range: string): Reply =>
  (socket) =>
    socket.write(`HTTP/1.1 204 So\r\nlocation: ${location}\r\nrange: ${range}\r\n\r\n`);
const done = answer(201, '');
const cut: Reply = (socket) => socket.resetAndDestroy();

describe('an upload', () => {
  test('that is small goes up in one piece, with the parameters that the registry gave', async () => {
    const { outcome, heard } = await pushed(() => [missing, at('/v2/a/blobs/uploads/1?_state=x'), done]);
    equal(outcome, 'uploaded');
    deepEqual(heard.slice(1), ['POST uploads/', `PUT uploads/1?_state=x&digest ${text}`]);
  });

  test('in chunks follows every new place, which may be on another path', async () => {
    const script = () => [missing, at('/up/1'), at('up/2'), at('/up/3'), done];
    const { outcome, heard } = await pushed(script, { chunk: 4 });
    equal(outcome, 'uploaded');
    deepEqual(heard.slice(2), ['PATCH /up/1 0-3 abcd', 'PATCH /up/up/2 4-7 efgh', 'PUT /up/3?digest 8-9 ij']);
  });

  test('takes the least size of a chunk that the registry names', async () => {
    const script = () => [missing, at('/up/1', { 'oci-chunk-min-length': '6' }), at('/up/2'), done];
    const { heard } = await pushed(script, { chunk: 2 });
    deepEqual(heard.slice(2), ['PATCH /up/1 0-5 abcdef', 'PUT /up/2?digest 6-9 ghij']);
  });

  test('goes on after a cut from what the registry has', async () => {
    const script = () => [missing, at('/up/1'), at('/up/2'), cut, stands('/up/3', '0-5'), at('/up/4'), done];
    const { outcome, heard } = await pushed(script, { chunk: 3 });
    equal(outcome, 'uploaded');
    deepEqual(heard.slice(3), ['PATCH /up/2 3-5 def', 'GET /up/2', 'PATCH /up/3 6-8 ghi', 'PUT /up/4?digest 9-9 j']);
  });

  test('whose last answer was lost is not done again', async () => {
    const { outcome, heard } = await pushed(() => [missing, at('/up/1'), cut, missing, present]);
    equal(outcome, 'uploaded');
    deepEqual(heard.slice(3), ['GET /up/1', `HEAD ${source.digest}`]);
  });

  test('that the registry forgot begins anew', async () => {
    const forgotten = answer(404, { errors: [{ code: 'BLOB_UPLOAD_UNKNOWN' }] });
    const script = () => [missing, at('/up/1'), forgotten, missing, missing, at('/up/2'), done];
    const { outcome, heard } = await pushed(script);
    equal(outcome, 'uploaded');
    equal(heard.at(-1), `PUT /up/2?digest ${text}`);
  });

  test('that never succeeds is given up', async () => {
    const { outcome, heard } = await pushed(() => [missing, answer(500, '')]);
    equal((outcome as { reason: string }).reason, 'Server');
    equal(heard.length, 7);
  });

  test('that is refused is not tried again', async () => {
    const refused = answer(400, { errors: [{ code: 'DIGEST_INVALID', message: 'other content' }] });
    const { outcome, heard } = await pushed(() => [missing, at('/up/1'), refused]);
    deepEqual([(outcome as { reason: string }).reason, heard.length], ['Refused', 3]);
  });

  test('without a place to go to, or under another digest, is an error', async () => {
    const nowhere = await pushed(() => [missing, answer(202, '')]);
    ok(String(nowhere.outcome).includes('does not say where the upload goes on'));
    const other = answer(201, '', { 'docker-content-digest': digestOf('other') });
    equal(((await pushed(() => [missing, at('/up/1'), other])).outcome as { reason: string }).reason, 'Digest');
  });

  test('to another host gets no credential, and none at all without TLS unless that is named', async () => {
    await using elsewhere = await ScriptedPeer.start([done]);
    const there = `http://127.0.0.1:${elsewhere.port}/up`;
    const closed = answer(401, '', { 'www-authenticate': 'Basic realm=x' });
    const script = () => [closed, missing, at(there)];
    const credentials = () => ({ username: 'ann', password: 'sesame' });
    const refused = await pushed(script, { credentials });
    equal((refused.outcome as { reason: string }).reason, 'Redirect');
    equal(elsewhere.heard.length, 0);
  });

  test('is mounted where the registry says so, and sent where it does not', async () => {
    const { outcome, heard } = await pushed(() => [missing, done], { mountFrom: 'b/c' });
    deepEqual([outcome, heard[1]], ['mounted', `POST uploads/?mount=${source.digest}&from=b%2Fc`]);
    const sent = await pushed(() => [missing, at('/up/1'), done], { mountFrom: 'b/c' });
    equal(sent.outcome, 'uploaded');
  });

  test('is not begun where the blob is', async () => {
    const { outcome, heard } = await pushed(() => [present]);
    deepEqual([outcome, heard.length], ['present', 1]);
  });
});

test('a manifest that the registry took for another one is an error', async () => {
  const bytes = Buffer.from('{}');
  for (const [digest, fails] of [
    [digestOf('other'), true],
    [digestOf(bytes), false],
  ] as const) {
    await using peer = await ScriptedPeer.start([answer(201, '', { 'docker-content-digest': digest })]);
    const host = `127.0.0.1:${peer.port}`;
    await using registry = new Registry({ clock: hasty, random: () => 0, plainHttp: [host] });
    const put = pushManifest(registry, referenceOf(`${host}/a:1`), { bytes, mediaType: mediaType.manifest });
    if (fails) await rejects(put, { reason: 'Digest' });
    else equal((await put).digest, digest);
    equal(peer.heard[0]?.path, '/v2/a/manifests/1');
  }
});
