// A look at an image as a program: `node src/programs/inspect/main.ts -- oci://host/repository:tag`. The only place that
// reads arguments, environment, files and the clock.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiServerIn, exitCode, heardInspect, type InspectOrder, type LastWord, sayLastWord } from '../../api/index.ts';
import { systemClock } from '../../base/index.ts';
import { runInspect } from './run.ts';

const wrongArguments = 2;
const terminationLog = '/dev/termination-log';

/** Files of a mounted Secret; the links beside them, whose names begin with dots, are the kubelet's own. */
function files(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !name.startsWith('..'));
  return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
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

/** Until it ends, or is told to stop: the first process of a container hears only the signals that it asks for. */
function runUntilStopped(order: InspectOrder): Promise<LastWord> {
  const stopped = new Promise<LastWord>((resolve) => {
    const end = () => resolve({ result: 'fault', message: 'the look at the image was stopped' });
    process.once('SIGTERM', end).once('SIGINT', end);
  });
  const around = { clock: systemClock, random: Math.random, files, apiServer: apiServerIn(process.env) };
  return Promise.race([runInspect(order, around), stopped]);
}

const heard = heardInspect(process.argv.slice(2));
if ('wrong' in heard) {
  process.stderr.write(`error: ${heard.wrong}\n`);
  process.exitCode = wrongArguments;
} else {
  const word = await runUntilStopped(heard.order);
  say(sayLastWord(word));
  process.exit(exitCode[word.result]);
}
