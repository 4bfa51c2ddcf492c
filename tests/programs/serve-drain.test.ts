// The end of a server that loses no request: neither one under way, nor one that comes just then on a connection that was quiet.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../kit/eventually.ts';
import { askOnAndOn, inferRequest, Line, type Question } from '../kit/keepalive.ts';
import { iris, irisModel, irisProbabilities } from '../kit/onnx/models.ts';
import { modelFolder, type RunningServer, startServe } from '../kit/serve.ts';

/** A flower of changing kind, and whether the answer is about it. */
function flower(number: number): Question {
  const measured = iris.flowers[number % 3] ?? [];
  const expected = irisProbabilities(measured);
  const body = JSON.stringify({
    id: String(number),
    inputs: [{ name: 'measurements', shape: [1, 4], datatype: 'FP32', data: measured }],
  });
  return {
    request: inferRequest('/v2/models/model/infer', body),
    wrong(text) {
      const { id, outputs } = JSON.parse(text) as { id: string; outputs: { data: number[] }[] };
      const near = outputs[0]?.data.every((value, index) => Math.abs(value - (expected[index] ?? 9)) < 1e-5);
      return id === String(number) && near === true ? undefined : `not the answer to ${number}: ${text}`;
    },
  };
}

const get = (path: string) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: model\r\n\r\n`);
const open = ({ port }: RunningServer) => Line.open({ host: '127.0.0.1', port });

describe('a drain', () => {
  test('fails no request of clients that never try again, each with one under way at all times', async () => {
    using folder = modelFolder({ 'model.onnx': irisModel() });
    await using first = await startServe({ model: folder.path });
    await using second = await startServe({ model: folder.path });
    let current = first;
    let stopped = false;
    let asked = 0;
    const clients = Array.from({ length: 16 }, () =>
      askOnAndOn({
        address: () => ({ host: '127.0.0.1', port: current.port }),
        question: () => flower(asked++),
        stop: () => stopped,
      }),
    );
    await pause(1_000);
    current = second;
    first.signal('SIGTERM');
    const { code, log } = await first.ended();
    await pause(500);
    stopped = true;
    const seen = await Promise.all(clients);
    deepEqual(
      seen.flatMap(({ failures }) => failures),
      [],
    );
    deepEqual(new Set(seen.map(({ connections }) => connections)), new Set([2]));
    ok(seen.reduce((sum, { answered }) => sum + answered, 0) > 100);
    equal(code, 0, log);
  });

  test('leaves a quiet connection open, and answers what comes on it', async () => {
    using folder = modelFolder({ 'model.onnx': irisModel() });
    await using server = await startServe({ model: folder.path });
    const quiet = await open(server);
    const probe = await open(server);
    equal((await quiet.ask(flower(1).request)).close, false);
    server.signal('SIGTERM');
    await eventually(() => server.log().includes('"draining"'));
    const ready = await probe.ask(get('/v2/health/ready'));
    deepEqual([ready.status, ready.close], [503, true]);
    const late = await open(server);
    const answer = await late.ask(flower(2).request);
    deepEqual([answer.status, answer.close, flower(2).wrong(answer.body)], [200, true, undefined]);
    await pause(1_500);
    ok(!quiet.ended, 'the quiet connection was ended');
    const last = await quiet.ask(flower(3).request);
    deepEqual([last.status, last.close, flower(3).wrong(last.body)], [200, true, undefined]);
    equal((await server.ended()).code, 0);
  });

  test('ends in time, also when somebody keeps a connection', async () => {
    using folder = modelFolder({ 'model.onnx': irisModel() });
    await using server = await startServe({ model: folder.path, drainSeconds: 2 });
    const kept = await open(server);
    const began = performance.now();
    server.signal('SIGTERM');
    equal((await server.ended()).code, 0);
    const took = performance.now() - began;
    ok(took >= 1_900 && took < 20_000, `${took} ms`);
    kept.end();
  });
});
