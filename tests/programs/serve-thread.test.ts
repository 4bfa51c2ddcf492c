// Models whose runs are long, and models that are large: they live in a thread of their own, so that probes are answered meanwhile.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../kit/eventually.ts';
import { inferRequest, Line } from '../kit/keepalive.ts';
import { encoded } from '../kit/onnx/graph.ts';
import { tableCell, tableWidth, writeTableModel } from '../kit/onnx/models.ts';
import { modelFolder, type RunningServer, startServe } from '../kit/serve.ts';

const get = (path: string) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: model\r\n\r\n`);
const open = ({ port }: RunningServer) => Line.open({ host: '127.0.0.1', port });

describe('long runs', () => {
  /** The square of a matrix, again and again. */
  const slow = () => {
    const port = (name: string) => ({ name, type: 'FP32', shape: ['n', 'n'] }) as const;
    const names = ['x', ...Array.from({ length: 30 }, (_, index) => `h${index}`), 'y'];
    return encoded({
      name: 'slow',
      inputs: [port('x')],
      outputs: [port('y')],
      nodes: names
        .slice(1)
        .map((name, index) => ({ op: 'MatMul', inputs: [names[index] ?? '', names[index] ?? ''], outputs: [name] })),
    });
  };
  const request = (rows = 500) => {
    const json = JSON.stringify({
      inputs: [{ name: 'x', shape: [rows, rows], datatype: 'FP32', parameters: { binary_data_size: rows * rows * 4 } }],
    });
    const head = `POST /v2/models/model/infer HTTP/1.1\r\nHost: m\r\nInference-Header-Content-Length: ${json.length}\r\nContent-Length: ${json.length + rows * rows * 4}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head + json), Buffer.alloc(rows * rows * 4)]);
  };

  test('move into a thread, so that probes are answered meanwhile', async () => {
    using folder = modelFolder({ 'model.onnx': slow() });
    await using server = await startServe({ model: folder.path, batching: 'off' });
    const client = await open(server);
    for (let times = 0; times < 60 && !server.log().includes('a thread of its own'); times++)
      equal((await client.ask(request())).status, 200);
    ok(server.log().includes('a thread of its own'), server.log());
    const order: string[] = [];
    const run = client.ask(request(1_200)).then(({ status }) => order.push(`run ${status}`));
    const probe = await open(server);
    await eventually(async () => (await server.metric('baton_serve_in_flight')) === 1, { every: 1 });
    order.push(`probe ${(await probe.ask(get('/v2/health/ready'))).status}`);
    await run;
    deepEqual(order, ['probe 200', 'run 200']);
    const before = await server.metric('baton_serve_requests_total', 'endpoint="infer"');
    const wrong = await client.ask(
      inferRequest('/v2/models/model/infer', '{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]}'),
    );
    equal(wrong.status, 400);
    equal(await server.metric('baton_serve_requests_total', 'endpoint="infer"'), before + 1);
  });

  test('do not crash a server that has no more time for them', async () => {
    using folder = modelFolder({ 'model.onnx': slow() });
    await using server = await startServe({ model: folder.path, drainSeconds: 0 });
    const client = await open(server);
    for (let times = 0; times < 60 && !server.log().includes('a thread of its own'); times++)
      equal((await client.ask(request())).status, 200);
    const lost = rejects(client.ask(request(700)));
    await eventually(async () => (await server.metric('baton_serve_in_flight')) === 1, { every: 1 });
    server.signal('SIGTERM');
    const { code, log } = await server.ended();
    equal(code, 0, log);
    await lost;
  });
});

describe('a large model', () => {
  test('is loaded in a thread, and many requests at a time get their own numbers', async () => {
    using folder = modelFolder();
    const { rows } = writeTableModel(join(folder.path, 'model.onnx'), { mebibytes: 70, seed: 3 });
    await using server = await startServe({ model: folder.path });
    const ask = async (row: number) => {
      const client = await open(server);
      const request = { inputs: [{ name: 'row', shape: [1], datatype: 'INT64', data: [row] }] };
      const { body } = await client.ask(inferRequest('/v2/models/model/infer', JSON.stringify(request)));
      client.end();
      return (JSON.parse(body) as { outputs: { data: number[] }[] }).outputs[0]?.data;
    };
    const asked = Array.from({ length: 50 }, (_, index) => (index * 7_919) % rows);
    const expected = asked.map((row) => Array.from({ length: tableWidth }, (_, column) => tableCell(3, row, column)));
    deepEqual(await Promise.all(asked.map(ask)), expected);
  });
});
