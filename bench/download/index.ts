// The downloader against curl and against the limit of the server: 1 GiB over loopback, as fast as it goes and at the rate
// of a fast network. Only ours hashes what it writes and waits for the disk; curl with sha256sum and sync does the same work.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { atLeast, atMost, type Figure } from '../figures.ts';
import { median } from '../table.ts';
import { type Cost, measured } from './process.ts';

export interface DownloadBenchOptions {
  rounds: number;
  /** Of the file. */
  bytes: number;
  say: (line: string) => void;
}

/** One side in one round. */
export interface Turn extends Cost {
  side: Side;
  server: string;
}

export interface DownloadBenchResult {
  figures: Figure[];
  turns: Turn[];
}

type Side = 'raw' | 'curl' | 'curl, sha256sum, sync' | 'ours';
const sides: readonly Side[] = ['raw', 'curl', 'curl, sha256sum, sync', 'ours'];

/** Bytes a second; as fast as it goes without. */
const servers: Record<string, number | undefined> = {
  'as fast as it goes': undefined,
  '10 Gbit/s': 1.25e9,
  '2.5 Gbit/s': 0.3125e9,
};

/** Measures all sides in turns. */
export async function benchDownload({ rounds, bytes, say }: DownloadBenchOptions): Promise<DownloadBenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-download-'));
  try {
    const program = await bundled(folder);
    const turns: Turn[] = [];
    for (const [server, rate] of Object.entries(servers)) {
      await using origin = await started(bytes, rate);
      for (let round = 0; round < rounds; round++)
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          const cost = await run(side, { program, folder, port: origin.port });
          say(`${server}: ${side}: ${cost.elapsed.toFixed(2)} s`);
          turns.push({ side, server, ...cost });
        }
    }
    return { turns, figures: Object.keys(servers).flatMap((server) => figuresOf(server, turns, bytes)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ours as it is shipped: one file, and others for what only some sources need. */
async function bundled(outdir: string): Promise<string> {
  const entry = join(import.meta.dirname, '..', '..', 'src', 'programs', 'download', 'main.ts');
  const js = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  const form = { bundle: true, splitting: true, platform: 'node', format: 'esm', minifySyntax: true } as const;
  await build({ entryPoints: [entry], outdir, outExtension: { '.js': '.mjs' }, banner: { js }, ...form });
  return join(outdir, 'main.mjs');
}

async function started(bytes: number, rate: number | undefined): Promise<{ port: number } & AsyncDisposable> {
  const args = [join(import.meta.dirname, 'origin.ts'), String(bytes), ...(rate === undefined ? [] : [String(rate)])];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  };
  return { port: Number(line.toString()), [Symbol.asyncDispose]: stop };
}

interface Run {
  program: string;
  folder: string;
  port: number;
}

async function run(side: Side, { program, folder, port }: Run): Promise<Cost> {
  const url = `http://127.0.0.1:${port}/file`;
  const target = mkdtempSync(join(folder, 'volume-'));
  const file = join(target, 'file');
  try {
    switch (side) {
      case 'raw':
        return await measured(process.execPath, [join(import.meta.dirname, 'raw.ts'), String(port)]);
      case 'curl':
        return await measured('curl', ['--silent', '--fail', '--output', file, url]);
      case 'curl, sha256sum, sync':
        return await measured('sh', [
          '-c',
          'curl --silent --fail --output "$0" "$1" && sha256sum "$0" && sync "$0"',
          file,
          url,
        ]);
      case 'ours': {
        const flags = [`--target=${target}`, '--framework=onnx', `--allow=127.0.0.1:${port}`, '--credentials=/nothing'];
        return await measured(process.execPath, [program, ...flags, '--', url]);
      }
    }
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

/** Rates, and ours to the others. */
function figuresOf(server: string, turns: readonly Turn[], bytes: number): Figure[] {
  const of = (side: Side, field: keyof Cost) =>
    median(turns.filter((turn) => turn.side === side && turn.server === server).map((turn) => turn[field]));
  const named = (name: string, value: number, unit: string): Figure => ({
    name: `download, ${server}: ${name}`,
    value,
    unit,
  });
  const rates = sides.map((side) => named(side, bytes / 1e6 / of(side, 'elapsed'), 'MB/s'));
  return [
    ...rates,
    atLeast(0.9, named('ours to raw', of('raw', 'elapsed') / of('ours', 'elapsed'), 'ratio')),
    named('ours to curl', of('curl', 'elapsed') / of('ours', 'elapsed'), 'ratio'),
    named('ours to curl, sha256sum, sync', of('curl, sha256sum, sync', 'elapsed') / of('ours', 'elapsed'), 'ratio'),
    named('CPU of ours', of('ours', 'cpu'), 's'),
    atMost(128, named('memory of ours', of('ours', 'peak'), 'MiB')),
  ];
}
