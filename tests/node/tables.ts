// The large model of the stories in two versions, each with numbers of its own: so every answer tells which version gave it.

import { equal, deepEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { askOnAndOn, inferRequest, type Question, type Seen } from '../kit/keepalive.ts';
import { tableCell, tableWidth, writeTableModel } from '../kit/onnx/models.ts';
import { pythonWith } from '../kit/python.ts';

/** More than 200 MB. */
const mebibytes = 200;
const rows = (mebibytes * 1024 ** 2) / (tableWidth * 4);
const columns = Array.from({ length: tableWidth }, (_, column) => column);

/** The file of a version. */
export function tableFile(seed: number): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'table-'));
  try {
    const path = join(folder, 'model.onnx');
    equal(writeTableModel(path, { mebibytes, seed }).rows, rows);
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds between two questions: enough of the processor is left for what the story is about. */
const rest = 20;

type Door = { host: string; port: number };

/** Asks the public client for rows from all over the table, and compares every number with those of a version. */
export async function tritonSees({ host, port }: Door, seed: number): Promise<void> {
  const requirements = join(import.meta.dirname, '../programs/tritonclient/requirements.txt');
  const { program, environment } = await pythonWith(requirements, () => {});
  const asked = [0, 1, Math.floor(rows / 3), Math.floor(rows / 2), rows - 1];
  const script = join(import.meta.dirname, 'tritonclient/rows.py');
  const { stdout } = await promisify(execFile)(program, [script, `${host}:${port}`, ...asked.map(String)], {
    env: environment,
    timeout: 120_000,
  });
  deepEqual(
    JSON.parse(stdout),
    asked.map((row) => columns.map((column) => tableCell(seed, row, column))),
  );
}

/** A client that asks all the time and never tries again. */
export interface Asker {
  /** The versions that answered, in turn. */
  heard: number[];
  /** What ended it, if something did. */
  failures: string[];
  stop(): Promise<Seen>;
}

/** Starts to ask; an answer must be of one of the versions. */
export function startAsking(door: Door, seeds: readonly number[]): Asker {
  const heard: number[] = [];
  const failures: string[] = [];
  let stopped = false;
  let asked = 0;
  const question = (): Question => {
    const row = (asked++ * 7919) % rows;
    return {
      request: inferRequest('/v2/models/model/infer', rowRequest(row)),
      wrong(body) {
        const seed = seeds.find((one) => isRow(one, row, body));
        if (seed === undefined) return `not the cells of row ${row}: ${body.slice(0, 200)}`;
        if (heard.at(-1) !== seed) heard.push(seed);
        return undefined;
      },
    };
  };
  const seen = askOnAndOn({ address: () => door, question, rest, stop: () => stopped });
  void seen.then((one) => failures.push(...one.failures));
  return {
    heard,
    failures,
    stop() {
      stopped = true;
      return seen;
    },
  };
}

const rowRequest = (row: number): string =>
  JSON.stringify({ inputs: [{ name: 'row', datatype: 'INT64', shape: [1], data: [row] }] });

function isRow(seed: number, row: number, body: string): boolean {
  const { outputs } = JSON.parse(body) as { outputs: { data: number[] }[] };
  const [{ data } = { data: [] }] = outputs;
  return data.length === tableWidth && data.every((cell, column) => Math.fround(cell) === tableCell(seed, row, column));
}
