// Downloads in this process, with a folder for a volume, a clock that does not keep anybody waiting, and names that mean
// loopback.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LastWord, Progress } from '../../src/api/index.ts';
import { makeLog, systemClock } from '../../src/base/index.ts';
import { download, Fault, heardDownload, Refused } from '../../src/programs/download/index.ts';

/** How many times faster the clock of a download runs. */
export const haste = 30;

/** A volume that is removed with the test, and what was said about it. */
export class Desk implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'download-'));
  readonly volume = join(this.root, 'volume');
  readonly progress: Progress[] = [];
  log = '';

  /** Puts keys into the Secret that the download is given. */
  secret(keys: Record<string, string>): void {
    mkdirSync(join(this.root, 'credentials'), { recursive: true });
    for (const [key, value] of Object.entries(keys)) writeFileSync(join(this.root, 'credentials', key), `${value}\n`);
  }

  /** Downloads; gives the last word. */
  async run(url: string, { args = [], signal, resolve, apiServer = [] }: Run = {}): Promise<LastWord> {
    const patience = [`--connect=${15 * haste}`, `--rate-window=${20 * haste}`, '--stall=5'];
    const folders = [`--target=${this.volume}`, `--credentials=${this.root}/credentials`];
    const common = [...folders, ...patience, '--allow=127.0.0.0/8', '--framework=onnx'];
    const heard = heardDownload(['download', ...common, ...args, '--', url]);
    if ('wrong' in heard) throw new Error(heard.wrong);
    const write = (line: string) => void (this.log += line);
    try {
      return await download(heard.order, {
        clock: { ...systemClock, after: (ms, run) => systemClock.after(ms / haste, run) },
        random: Math.random,
        log: makeLog({ level: 'debug', format: 'text', now: () => 0, write }),
        resolve: resolve ?? (() => Promise.resolve(['127.0.0.1'])),
        machine: { platform: 'linux', arch: 'x64' },
        apiServer,
        signal: signal ?? new AbortController().signal,
        progress: (one) => void this.progress.push(one),
      });
    } catch (error) {
      if (error instanceof Refused) return { result: 'verdict', verdict: error.verdict, message: error.message };
      if (error instanceof Fault) return { result: 'fault', message: error.message };
      throw error;
    }
  }

  /** The files on the volume without our own, with their content. */
  files(): Record<string, string> {
    const all = readdirSync(this.volume, { recursive: true, encoding: 'utf8' }).filter(
      (path) => !path.startsWith('.baton'),
    );
    const files = all.filter((path) => statSync(join(this.volume, path)).isFile()).toSorted();
    return Object.fromEntries(files.map((path) => [path, readFileSync(join(this.volume, path), 'latin1')]));
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

interface Run {
  args?: string[];
  signal?: AbortSignal;
  resolve?: (hostname: string) => Promise<string[]>;
  apiServer?: string[];
}
