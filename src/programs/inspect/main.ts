// A look at an image as a program: `node src/programs/inspect/main.ts -- oci://host/repository:tag`. The only place that
// reads arguments, environment, files and the clock.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { heardInspect, sayLastWord } from '../../api/index.ts';
import { systemClock } from '../../base/index.ts';
import { codeOf, runInspect } from './run.ts';

const wrongArguments = 2;
const terminationLog = '/dev/termination-log';

/** Files of a mounted Secret; the links beside them, whose names begin with dots, are the kubelet's own. */
function files(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !name.startsWith('..'));
  return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** The API server as every pod is told of it. */
function apiServer(): string[] {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  return host === undefined ? [] : [host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`];
}

/** Also where no kubelet keeps it, a person can read it. */
function say(words: string): void {
  process.stdout.write(`${words}\n`);
  try {
    writeFileSync(terminationLog, words, { flag: 'r+' });
  } catch {
    // outside a pod there is no such file
  }
}

async function main(): Promise<number> {
  const heard = heardInspect(process.argv.slice(2));
  if ('wrong' in heard) {
    process.stderr.write(`error: ${heard.wrong}\n`);
    return wrongArguments;
  }
  const around = { clock: systemClock, random: Math.random, files, apiServer: apiServer() };
  const word = await runInspect(heard.order, around);
  say(sayLastWord(word));
  return codeOf(word);
}

process.exitCode = await main();
