// The downloader as a program: `node src/programs/download/main.ts --target=/weights --framework=onnx -- URL`. The only
// place that reads arguments, environment and clock; it ends with one of the exit codes of the contract, and says its
// last word where a kubelet keeps it.

import { writeFileSync } from 'node:fs';
import { apiServerIn, exitCode, type LastWord, sayLastWord, sayProgress } from '../../api/contract.ts';
import { makeLog, systemClock, systemResolve, wordsOf } from '../../base/index.ts';
import { heardDownload, type Order } from './order.ts';
import { Fault, Refused } from './outcome.ts';
import { download } from './run.ts';

const wrongArguments = 2;

/** How it ended, in words of the contract. */
function lastWord(error: unknown): LastWord {
  if (error instanceof Refused) return { result: 'verdict', verdict: error.verdict, message: error.message };
  return {
    result: 'fault',
    message: error instanceof Fault ? error.message : `the download failed: ${wordsOf(error)}`,
  };
}

async function run(order: Order, signal: AbortSignal): Promise<LastWord> {
  const log = makeLog({
    level: 'info',
    format: 'json',
    now: () => systemClock.now(),
    write: (line) => process.stderr.write(line),
  });
  try {
    return await download(order, {
      clock: systemClock,
      random: Math.random,
      log,
      resolve: systemResolve,
      machine: process,
      apiServer: apiServerIn(process.env),
      signal,
      progress: (progress) => process.stdout.write(`${sayProgress(progress)}\n`),
    });
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Fault)) log.error('The download failed', { error });
    return lastWord(error);
  }
}

/** Milliseconds for putting away what is there, once it shall stop. */
const lastMoments = 800;

/** Runs until it ends, or until it is told to stop: then there is no long waiting for a disk. */
function runUntilStopped(order: Order): Promise<LastWord> {
  const stop = new AbortController();
  const stopped = new Promise<LastWord>((resolve) => {
    const end = () => {
      const fault = new Fault('the download was stopped; what is there is kept, and the next run goes on');
      stop.abort(fault);
      systemClock.after(lastMoments, () => resolve(lastWord(fault)));
    };
    process.once('SIGTERM', end).once('SIGINT', end);
  });
  return Promise.race([run(order, stop.signal), stopped]);
}

/** Also where no kubelet keeps it, a person can read it. */
function say(word: LastWord, path: string): void {
  const words = sayLastWord(word);
  process.stdout.write(`${words}\n`);
  try {
    writeFileSync(path, words, { flag: 'r+' });
  } catch {
    // Outside a pod there is no such file.
  }
}

const heard = heardDownload(process.argv.slice(2));
if ('wrong' in heard) {
  process.stderr.write(`error: ${heard.wrong}\n`);
  process.exitCode = wrongArguments;
} else {
  const word = await runUntilStopped(heard.order);
  say(word, heard.order.terminationLog);
  process.exit(exitCode[word.result]);
}
