// Our model server against a tuned Python one: the same small model, the same load, in turns on the same machine. Requests a
// second and latencies tell what a user sees; CPU time a request tells the same on a machine that is busy with other things.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { perceptronModel } from '../../tests/kit/onnx/models.ts';
import { atLeast, atMost, type Figure } from '../figures.ts';
import { median } from '../table.ts';
import type { Load, Loaded } from './load.ts';
import { type Measured, startOurs, startPython } from './servers.ts';

export interface ServeBenchOptions {
  rounds: number;
  seconds: number;
  /** Without the Python server. */
  alone: boolean;
  say: (line: string) => void;
}

/** One side in one round. */
export interface Turn extends Loaded {
  side: 'ours' | 'python';
  scenario: string;
  rate: number;
  /** CPU microseconds of the server for each request. */
  cpuEach: number;
  /** MiB. */
  rss: number;
}

export interface ServeBenchResult {
  figures: Figure[];
  turns: Turn[];
}

const width = 16;
const values = Float32Array.from({ length: width }, (_, index) => Math.sin(index));

const scenarios = {
  'JSON, 32 connections': { connections: 32, request: jsonRequest() },
  'binary, 32 connections': { connections: 32, request: binaryRequest() },
  'JSON, 1 connection': { connections: 1, request: jsonRequest() },
};
type Scenario = keyof typeof scenarios;

/** Measures both sides. */
export async function benchServe(options: ServeBenchOptions): Promise<ServeBenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-serve-'));
  try {
    const model = join(folder, 'model.onnx');
    writeFileSync(model, perceptronModel({ inputs: width }));
    const turns = await measure({ model, threads: 1 }, options);
    return { turns, figures: Object.keys(scenarios).flatMap((name) => figuresOf(name, turns)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(serving: { model: string; threads: number }, options: ServeBenchOptions): Promise<Turn[]> {
  const { rounds, seconds, alone, say } = options;
  await using ours = await startOurs(serving);
  await using python = alone ? undefined : await startPython(serving, availableParallelism(), say);
  const sides = [['ours', ours] as const, ...(python ? [['python', python] as const] : [])];
  const turns: Turn[] = [];
  for (const [, server] of sides) await loaded(server, { ...scenarios['JSON, 32 connections'], seconds: 1 });
  for (let round = 0; round < rounds; round++)
    for (const scenario of Object.keys(scenarios) as Scenario[])
      for (const [side, server] of round % 2 === 0 ? sides : sides.toReversed())
        turns.push({ side, scenario, ...(await turn(server, scenario, seconds)) });
  return turns;
}

async function turn(server: Measured, scenario: Scenario, seconds: number) {
  const before = server.usage();
  const seen = await loaded(server, { ...scenarios[scenario], seconds });
  const { cpu, rss } = server.usage();
  if (seen.failures > 0) throw new Error(`${seen.failures} connections failed under "${scenario}"`);
  return { ...seen, rate: (seen.requests * 1_000) / seen.elapsed, cpuEach: (cpu - before.cpu) / seen.requests, rss };
}

async function loaded({ port }: Measured, { connections, request, seconds }: Omit<Load, 'port'>): Promise<Loaded> {
  const load: Load = { port, connections, seconds, request };
  const program = join(import.meta.dirname, 'load.ts');
  const options = { timeout: seconds * 1_000 + 60_000 };
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(load)], options);
  return JSON.parse(stdout) as Loaded;
}

/** Ours, theirs, and ratios of the medians of rounds. */
function figuresOf(scenario: string, turns: readonly Turn[]): Figure[] {
  const of = (side: Turn['side'], field: 'rate' | 'p50' | 'p99' | 'cpuEach' | 'rss') =>
    median(turns.filter((one) => one.side === side && one.scenario === scenario).map((one) => one[field]));
  const figure = (name: string, value: number, unit: string): Figure => ({
    name: `serve: ${scenario}, ${name}`,
    value,
    unit,
  });
  const ours = [
    figure('requests a second', of('ours', 'rate'), '1/s'),
    figure('p50', of('ours', 'p50'), 'ms'),
    figure('p99', of('ours', 'p99'), 'ms'),
    figure('CPU a request', of('ours', 'cpuEach'), 'us'),
    figure('memory', of('ours', 'rss'), 'MiB'),
  ];
  if (!turns.some(({ side }) => side === 'python')) return ours;
  const rate = figure('requests a second to Python', of('ours', 'rate') / of('python', 'rate'), 'ratio');
  const tail = figure('p99 to Python', of('ours', 'p99') / of('python', 'p99'), 'ratio');
  const judged = scenario !== 'JSON, 1 connection';
  return [
    ...ours,
    figure('requests a second, Python', of('python', 'rate'), '1/s'),
    figure('p50, Python', of('python', 'p50'), 'ms'),
    figure('p99, Python', of('python', 'p99'), 'ms'),
    figure('CPU a request, Python', of('python', 'cpuEach'), 'us'),
    figure('memory, Python', of('python', 'rss'), 'MiB'),
    judged ? atLeast(2, rate) : rate,
    judged ? atMost(0.5, tail) : tail,
    figure('CPU a request to Python', of('ours', 'cpuEach') / of('python', 'cpuEach'), 'ratio'),
  ];
}

function jsonRequest(): string {
  const data = Array.from(values);
  const body = Buffer.from(JSON.stringify({ inputs: [{ name: 'x', shape: [1, width], datatype: 'FP32', data }] }));
  return posted(body, 'Content-Type: application/json');
}

function binaryRequest(): string {
  const parameters = { binary_data_size: values.byteLength };
  const input = { name: 'x', shape: [1, width], datatype: 'FP32', parameters };
  const json = Buffer.from(JSON.stringify({ inputs: [input], parameters: { binary_data_output: true } }));
  return posted(
    Buffer.concat([json, new Uint8Array(values.buffer)]),
    `Inference-Header-Content-Length: ${json.length}`,
  );
}

function posted(body: Buffer, header: string): string {
  const head = `POST /v2/models/model/infer HTTP/1.1\r\nHost: localhost\r\n${header}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]).toString('base64');
}
