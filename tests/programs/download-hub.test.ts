// Downloads from a model hub: a server that answers like one, with large files somewhere else.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { Desk } from '../kit/downloads.ts';
import { type Origin, serve, startOrigin } from '../kit/origin.ts';

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const commit = 'a'.repeat(40);
const token = 'canary-hub-77';

const files: Record<string, string> = {
  '.gitattributes': '*.onnx filter=lfs',
  'README.md': '# Iris',
  'config.json': '{}',
  'onnx/model.onnx': 'weights '.repeat(1_000),
  'onnx/model.onnx_data': 'more weights',
  'onnx/model_fp16.onnx': 'other weights',
  'pytorch_model.bin': 'torch',
  'model.safetensors': 'tensors',
};
const isLarge = (path: string) => /\.(?:onnx|onnx_data|bin|safetensors)$/.test(path);

/** A hub in two pages, and the store that it sends people to. */
async function startHub(lie: Record<string, string> = {}): Promise<{ hub: Origin; store: Origin } & AsyncDisposable> {
  const store = await startOrigin((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    serve(request, response, Buffer.from(lie[path] ?? files[path] ?? ''), { etag: `"${path}"` });
  });
  const entries = Object.entries(files).map(([path, text]) => ({
    type: 'file',
    path,
    size: text.length,
    oid: 'b'.repeat(40),
    ...(isLarge(path) && { lfs: { oid: sha256(text), size: text.length, pointerSize: 130 } }),
  }));
  const hub: Origin = await startOrigin((request, response) => {
    const url = new URL(request.url ?? '', 'http://hub');
    const json = (value: unknown, headers = {}) => void response.writeHead(200, headers).end(JSON.stringify(value));
    if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    if (url.pathname === '/api/models/owner/iris/revision/v1%2Ffinal') return json({ sha: commit, siblings: [] });
    if (url.pathname === `/api/models/owner/iris/tree/${commit}`) {
      const second = url.searchParams.has('cursor');
      const next = `<http://${hub.host}${url.pathname}?recursive=true&cursor=2>; rel="next"`;
      return json(
        second ? entries.slice(4) : [{ type: 'directory', path: 'onnx', size: 0 }, ...entries.slice(0, 4)],
        second ? {} : { link: next },
      );
    }
    const path = url.pathname.replace(`/owner/iris/resolve/${commit}/`, '');
    if (path === url.pathname) return void response.writeHead(404).end();
    if (isLarge(path)) return void response.writeHead(302, { location: `http://${store.host}/${path}` }).end();
    serve(request, response, Buffer.from(files[path] ?? ''), { etag: `"${path}"` });
  });
  const stop = async () => {
    await hub[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  };
  return { hub, store, [Symbol.asyncDispose]: stop };
}

const at = (endpoint: string, keys: Record<string, string> = { token }) => {
  const desk = new Desk();
  desk.secret({ endpoint: `http://${endpoint}/`, ...keys });
  return desk;
};

describe('a repository of the hub', { timeout: 60_000 }, () => {
  test('gives the files that the framework needs, of one commit, and its token to nobody else', async () => {
    await using peers = await startHub();
    using desk = at(peers.hub.host);
    const word = await desk.run('hf://owner/iris@v1/final');
    const wanted = ['onnx/model.onnx', 'onnx/model.onnx_data'];
    const list = wanted.map((path) => `${sha256(files[path] ?? '')}  ${path}\n`).join('');
    equal(word.result === 'done' && word.digest, `sha256:${sha256(list)}`, JSON.stringify(word));
    deepEqual(Object.keys(desk.files()), wanted);
    ok(
      peers.store.requests.length >= 2 &&
        peers.store.requests.every(({ headers }) => headers.authorization === undefined),
    );
    equal(`${JSON.stringify(word)}${desk.log}`.includes(token), false);
  });

  test('gives a language model server its safetensors and what describes them', async () => {
    await using peers = await startHub();
    using desk = at(peers.hub.host);
    equal((await desk.run('hf://owner/iris@v1/final', { args: ['--framework=vllm'] })).result, 'done');
    deepEqual(Object.keys(desk.files()), ['config.json', 'model.safetensors']);
  });

  test('whose files are not what its listing says is refused', async () => {
    const lie = 'w'.repeat(files['onnx/model.onnx']?.length ?? 0);
    await using peers = await startHub({ 'onnx/model.onnx': lie });
    using desk = at(peers.hub.host);
    const word = await desk.run('hf://owner/iris@v1/final');
    ok(word.result === 'verdict' && word.verdict === 'ChecksumMismatch', JSON.stringify(word));
    match(word.message, /^onnx\/model\.onnx should be sha256:/);
    deepEqual(desk.files(), {});
  });

  test('whose files have another size than its listing says is refused at once', async () => {
    await using peers = await startHub({ 'onnx/model.onnx': 'short' });
    using desk = at(peers.hub.host);
    const word = await desk.run('hf://owner/iris@v1/final');
    ok(word.result === 'verdict' && word.verdict === 'ChecksumMismatch', JSON.stringify(word));
    match(word.message, /has 5 bytes, and 8000 in the listing/);
    equal(peers.store.requests.filter(({ path }) => path.endsWith('model.onnx')).length, 1);
  });

  test('whose listing leads back to itself is refused', async () => {
    await using hub: Origin = await startOrigin((request, response) => {
      const link = { link: `<http://${hub.host}${request.url}>; rel="next"` };
      const isTree = request.url?.includes('/tree/') === true;
      response.writeHead(200, link).end(JSON.stringify(isTree ? [] : { sha: commit }));
    });
    using desk = at(hub.host);
    const word = await desk.run('hf://owner/iris');
    ok(word.result === 'verdict' && word.verdict === 'EmptySource', JSON.stringify(word));
    match(word.message, /leads back/);
    equal(hub.requests.length, 2);
  });

  const rows: [string, string, string[], Record<string, string>, string][] = [
    ['without a token', 'hf://owner/iris@v1/final', [], {}, 'SourceUnauthorized'],
    ['that does not exist', 'hf://owner/other', [], { token }, 'SourceNotFound'],
    [
      'without what the framework needs',
      'hf://owner/iris@v1/final',
      ['--framework=tensorflow'],
      { token },
      'EmptySource',
    ],
    ['at a place that is none', 'hf://owner/iris', [], { token, endpoint: 'hub example' }, 'SourceUnauthorized'],
    ['with a name that is none', 'hf://owner/iris/deeper/still', [], { token }, 'SourceNotFound'],
  ];
  for (const [name, url, args, keys, verdict] of rows)
    test(`${name}: ${verdict}`, async () => {
      await using peers = await startHub();
      using desk = at(peers.hub.host, keys);
      const word = await desk.run(url, { args });
      ok(word.result === 'verdict' && word.verdict === verdict, JSON.stringify(word));
    });
});
