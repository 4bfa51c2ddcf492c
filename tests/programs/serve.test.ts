// Our model server as clients meet it: a real process, real models in onnxruntime, real HTTP clients.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { type ElementType, elementType, encoded, floats } from '../kit/onnx/graph.ts';
import { echoModel, iris, irisModel, irisProbabilities, oneNode, perceptronModel } from '../kit/onnx/models.ts';
import { modelFolder, type RunningServer, serveEnds, startServe } from '../kit/serve.ts';

const mebibyte = 2 ** 20;

interface Answer {
  status: number;
  headers: Headers;
  value: {
    error?: string;
    id?: string;
    outputs?: { name: string; datatype: string; shape: number[]; data: unknown[] }[];
  } & Record<string, unknown>;
}

async function ask({ url }: RunningServer, path: string, request: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url + path, { signal: AbortSignal.timeout(30_000), ...request });
  return { status: answer.status, headers: answer.headers, value: (await answer.json()) as Answer['value'] };
}

const infer = (server: RunningServer, request: unknown, init: RequestInit = {}): Promise<Answer> =>
  ask(server, '/v2/models/model/infer', { method: 'POST', body: JSON.stringify(request), ...init });

const flowers = (rows: readonly (readonly number[])[]) => ({
  inputs: [{ name: 'measurements', shape: [rows.length, 4], datatype: 'FP32', data: rows }],
});

describe('a served model', () => {
  test('says what it is, and gives the right numbers', async () => {
    using folder = modelFolder({ 'model.onnx': irisModel() });
    await using server = await startServe({ model: folder.path });
    deepEqual((await ask(server, '/v2')).value['extensions'], ['binary_tensor_data']);
    deepEqual((await ask(server, '/v2/health/live')).value, { live: true });
    deepEqual((await ask(server, '/v2/health/ready')).value, { ready: true });
    deepEqual((await ask(server, '/v2/models/model/versions/1')).value, {
      name: 'model',
      versions: ['1'],
      platform: 'onnxruntime_onnx',
      inputs: [{ name: 'measurements', datatype: 'FP32', shape: [-1, 4] }],
      outputs: [
        { name: 'probabilities', datatype: 'FP32', shape: [-1, 3] },
        { name: 'species', datatype: 'INT64', shape: [-1] },
      ],
    });
    const { value } = await infer(server, { id: 'a', ...flowers(iris.flowers) });
    equal(value.id, 'a');
    const [probabilities, species] = value.outputs ?? [];
    deepEqual(species?.data, [0, 1, 2]);
    const expected = iris.flowers.flatMap(irisProbabilities);
    probabilities?.data.forEach((found, index) => ok(Math.abs(Number(found) - (expected[index] ?? 0)) < 1e-5));
    const chosen = await infer(server, { ...flowers(iris.flowers), outputs: [{ name: 'species' }] });
    deepEqual(
      chosen.value.outputs?.map(({ name }) => name),
      ['species'],
    );
  });

  test('carries every type through onnxruntime unchanged', async () => {
    using folder = modelFolder({ 'model.onnx': echoModel() });
    await using server = await startServe({ model: folder.path });
    const values: Record<ElementType, [unknown, unknown]> = {
      BOOL: [true, false],
      UINT8: [0, 255],
      UINT16: [0, 65_535],
      UINT32: [0, 4_294_967_295],
      UINT64: [0, 9_007_199_254_740_991],
      INT8: [-128, 127],
      INT16: [-32_768, 32_767],
      INT32: [-2_147_483_648, 2_147_483_647],
      INT64: [-9_007_199_254_740_991, 7],
      FP16: [-0.5, 65_504],
      FP32: [-0.25, 16_777_216],
      FP64: [Math.PI, -1e300],
      BYTES: ['', 'Grüße, 世界'],
    };
    const inputs = (Object.keys(elementType) as ElementType[]).map((type) => ({
      name: `in_${type}`,
      shape: [1, 2],
      datatype: type,
      data: values[type],
    }));
    const { status, value } = await infer(server, { inputs });
    equal(status, 200, value.error);
    deepEqual(Object.fromEntries((value.outputs ?? []).map(({ datatype, data }) => [datatype, data])), values);
  });

  test('may have its weights in a file beside it, and be named itself', async () => {
    const data = { file: 'weights.bin', offset: 4, length: 8 };
    const factors = { name: 'factors', type: 'FP32', dims: [2], data } as const;
    const port = (name: string) => ({ name, type: 'FP32', shape: ['n', 2] }) as const;
    const graph = { name: 'scale', inputs: [port('x')], outputs: [port('y')], initializers: [factors] };
    const model = encoded({ ...graph, nodes: [{ op: 'Mul', inputs: ['x', 'factors'], outputs: ['y'] }] });
    using folder = modelFolder({ 'm.onnx': model, 'weights.bin': floats([99, 3, 5]), 'other.onnx': irisModel() });
    await using server = await startServe({ model: `${folder.path}/m.onnx`, name: 'scale' });
    const request = { inputs: [{ name: 'x', shape: [1, 2], datatype: 'FP32', data: [1, 2] }] };
    const { value } = await ask(server, '/v2/models/scale/infer', { method: 'POST', body: JSON.stringify(request) });
    deepEqual(value.outputs?.[0]?.data, [3, 10]);
  });

  test('says what it did in metrics', async () => {
    using folder = modelFolder({ 'model.onnx': irisModel() });
    await using server = await startServe({ model: folder.path });
    await infer(server, flowers(iris.flowers));
    await infer(server, {});
    equal(await server.metric('baton_serve_requests_total', 'code="200",endpoint="infer"'), 1);
    equal(await server.metric('baton_serve_requests_total', 'code="400",endpoint="infer"'), 1);
    equal(await server.metric('baton_serve_request_seconds_count'), 2);
    equal(await server.metric('baton_serve_run_rows_sum'), 3);
    equal(await server.metric('baton_serve_in_flight'), 0);
    ok((await server.metric('baton_serve_model_load_seconds')) > 0);
  });
});

describe('requests at the same time', () => {
  const width = 16;
  const request = (seed: number, rows: number) => ({
    inputs: [
      {
        name: 'x',
        shape: [rows, width],
        datatype: 'FP32',
        data: Array.from({ length: rows * width }, (_, index) => Math.sin(seed * 7 + index)),
      },
    ],
  });

  for (const batching of ['auto', 'off'] as const)
    test(`each get their own numbers, with batching ${batching}`, async () => {
      using folder = modelFolder({ 'model.onnx': perceptronModel({ inputs: width }) });
      await using server = await startServe({ model: folder.path, batching, batchRows: 16 });
      const seeds = Array.from({ length: 300 }, (_, index) => index);
      const numbersFor = async (seed: number) =>
        (await infer(server, request(seed, 1 + (seed % 3)))).value.outputs?.[0]?.data as number[];
      const alone: number[][] = [];
      for (const seed of seeds) alone.push(await numbersFor(seed));
      const together = await Promise.all(seeds.map(numbersFor));
      together.forEach((numbers, seed) => {
        equal(numbers.length, alone[seed]?.length);
        numbers.forEach((value, index) => ok(Math.abs(value - (alone[seed]?.[index] ?? 9)) < 1e-6, `request ${seed}`));
      });
      const [runs, requests] = [await server.metric('baton_serve_run_seconds_count'), 600];
      if (batching === 'off') equal(runs, requests);
      else ok(runs < requests, `${runs} runs for ${requests} requests`);
    });

  test('do not run together on a model that may mix its rows', async () => {
    const port = (name: string) => ({ name, type: 'FP32', shape: ['n', 'm'] }) as const;
    const total = oneNode('ReduceSum', [port('x'), { name: 'y', type: 'FP32', shape: [1, 1] }]);
    using folder = modelFolder({ 'model.onnx': total });
    await using server = await startServe({ model: folder.path });
    const sums = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        infer(server, { inputs: [{ name: 'x', shape: [1, 2], datatype: 'FP32', data: [index, 1] }] }),
      ),
    );
    deepEqual(
      sums.map(({ value }) => value.outputs?.[0]?.data),
      sums.map((_, index) => [index + 1]),
    );
  });

  test('beyond what may wait are told to come again', async () => {
    using folder = modelFolder({ 'model.onnx': perceptronModel({ inputs: 256, hidden: 4_096 }) });
    await using server = await startServe({ model: folder.path, queue: 1, batching: 'off' });
    const heavy = {
      inputs: [{ name: 'x', shape: [400, 256], datatype: 'FP32', data: Array.from({ length: 102_400 }, () => 0.5) }],
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => infer(server, heavy)));
    const statuses = new Set(answers.map(({ status }) => status));
    deepEqual(
      [...statuses].toSorted((a, b) => a - b),
      [200, 503],
    );
    const full = answers.find(({ status }) => status === 503);
    equal(full?.headers.get('retry-after'), '1');
    match(full?.value.error ?? '', /Too many requests wait/);
  });
});

describe('bodies', () => {
  const request = flowers(iris.flowers);
  const text = JSON.stringify(request);

  test('may come compressed, and in chunks', async () => {
    using folder = modelFolder({ 'model.onnx': irisModel() });
    await using server = await startServe({ model: folder.path });
    for (const [encoding, body] of Object.entries({ gzip: gzipSync(text), deflate: deflateSync(text) })) {
      const { status, value } = await infer(server, undefined, { body, headers: { 'content-encoding': encoding } });
      equal(status, 200, value.error);
    }
    const chunked = { body: new Blob([text]).stream(), duplex: 'half' } as RequestInit;
    equal((await infer(server, undefined, chunked)).status, 200);
  });

  test('that cannot be taken are refused in words', async () => {
    using folder = modelFolder({ 'model.onnx': irisModel() });
    await using server = await startServe({ model: folder.path, bodyLimit: 65_536 });
    const rows: [init: RequestInit, status: number, says: RegExp][] = [
      [{ body: 'x'.repeat(3_000_000) }, 413, /larger than the 65536 bytes/],
      [{ body: new Blob(['x'.repeat(300_000)]).stream(), duplex: 'half' }, 413, /larger than/],
      [
        { body: gzipSync('x'.repeat(3_000_000)), headers: { 'content-encoding': 'gzip' } },
        413,
        /unpacked body is larger/,
      ],
      [{ body: text, headers: { 'content-encoding': 'gzip' } }, 400, /no gzip data/],
      [{ body: text, headers: { 'content-encoding': 'br' } }, 415, /br is not taken/],
      [{ body: new FormData() }, 415, /must be JSON/],
      [{ body: JSON.stringify(flowers([[1, 2, 3]])) }, 400, /"measurements" should be FP32 \[batch,4\]|has 3 elements/],
    ];
    for (const [init, status, says] of rows) {
      const answer = await infer(server, undefined, init);
      equal(answer.status, status, JSON.stringify(answer.value));
      match(answer.value.error ?? '', says);
    }
    equal((await infer(server, request)).status, 200);
  });

  test('that hide huge ones get no more memory than large bodies may take', async () => {
    using folder = modelFolder({ 'model.onnx': irisModel() });
    const bodyLimit = 32 * mebibyte;
    await using server = await startServe({ model: folder.path, bodyLimit });
    const before = server.peakMemory();
    const init = { body: gzipSync(Buffer.alloc(bodyLimit, ' ')), headers: { 'content-encoding': 'gzip' } };
    const answers = await Promise.all(Array.from({ length: 40 }, () => infer(server, undefined, init)));
    const told = Object.groupBy(answers, ({ status }) => status);
    deepEqual(Object.keys(told), ['400', '503']);
    match(told[503]?.[0]?.value.error ?? '', /Too many large requests/);
    const grown = (server.peakMemory() - before) / mebibyte;
    ok(grown < 1_000, `memory grew by ${Math.round(grown)} MiB`);
    equal((await infer(server, request)).status, 200);
  });

  test('on which the model fails are told so, and only they', async () => {
    const table = { name: 't', type: 'FP32', dims: [3, 1], data: floats([10, 20, 30]) } as const;
    const model = encoded({
      name: 'gather',
      inputs: [{ name: 'i', type: 'INT64', shape: ['n'] }],
      outputs: [{ name: 'y', type: 'FP32', shape: ['n', 1] }],
      initializers: [table],
      nodes: [{ op: 'Gather', inputs: ['t', 'i'], outputs: ['y'] }],
    });
    using folder = modelFolder({ 'model.onnx': model });
    await using server = await startServe({ model: folder.path });
    const at = (row: number) => infer(server, { inputs: [{ name: 'i', shape: [1], datatype: 'INT64', data: [row] }] });
    const answers = await Promise.all([0, 7, 1, 9, 2, 0, 1, 2].map(at));
    deepEqual(
      answers.map(({ status, value }) => value.outputs?.[0]?.data[0] ?? status),
      [10, 400, 20, 400, 30, 10, 20, 30],
    );
    match(answers[1]?.value.error ?? '', /does not run on these inputs.*(index|indices|bounds)/i);
  });
});

describe('a model that cannot be served ends the program with its cause', () => {
  const whole = perceptronModel();
  const rows: [name: string, files: Record<string, Uint8Array>, says: RegExp][] = [
    ['an empty folder', {}, /holds no \*\.onnx file: it is empty$/],
    ['other files', { 'README.md': whole }, /holds no \*\.onnx file, only README\.md$/],
    ['two models', { 'a.onnx': whole, 'b.onnx': whole }, /2 \*\.onnx files.*a\.onnx, b\.onnx.*--model/],
    ['an empty file', { 'm.onnx': Buffer.alloc(0) }, /m\.onnx is empty/],
    ['a file that was cut', { 'm.onnx': whole.subarray(0, whole.length / 2) }, /no ONNX model that can be loaded/],
    ['something else', { 'm.onnx': Buffer.from('<html>not found</html>') }, /no ONNX model that can be loaded/],
  ];
  for (const [name, files, says] of rows)
    test(name, async () => {
      using folder = modelFolder(files);
      const { code, log } = await serveEnds({ model: folder.path });
      equal(code, 42);
      match(log.trim().split('\n').at(-1) ?? '', says);
    });

  test('nothing at all', async () => {
    const { code, log } = await serveEnds({ model: '/nowhere' });
    equal(code, 42);
    match(log.trim(), /^error: \/nowhere does not exist/);
  });

  test('or arguments that nobody could mean', async () => {
    const { code, log } = await serveEnds({ model: '/m', batching: 'maybe' as 'auto' });
    equal(code, 2);
    match(log, /--batching must be auto or off/);
  });
});
