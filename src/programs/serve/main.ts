// Our model server as a program: `node src/programs/serve/main.ts --model=/models/model --port=8080`. The only place that reads
// arguments, clock and signals. The same file is also the start of the thread in which long runs are done.

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { exitCode, heardServe, serveHelp, type ServeOrder } from '../../api/index.ts';
import { makeLog, sleep, systemClock } from '../../base/index.ts';
import { cpusWithin } from './cpus.ts';
import { ModelFailure } from './engine/failure.ts';
import { beThread, type ThreadOrder } from './engine/thread.ts';
import { type ModelServer, startServer } from './server.ts';

const wrongArguments = 2;

const log = makeLog({
  level: 'info',
  format: process.stderr.isTTY ? 'text' : 'json',
  now: () => Date.now(),
  write: (line) => void process.stderr.write(line),
});

/** The last line is what a kubelet keeps and a person sees. */
function end(code: number, words: string): never {
  process.stderr.write(`error: ${words}\n`);
  process.exit(code);
}

/** Milliseconds for the last run to end: onnxruntime's binding aborts the process when a thread of it is cut off at work. */
const lastRun = 4_000;

/** The first signal drains; whoever sends a second one does not want to wait. */
async function drain(server: ModelServer): Promise<void> {
  log.info('draining');
  await server.drain();
  await Promise.race([server.close(), sleep(systemClock, lastRun)]);
  log.info('drained');
  process.exit(exitCode.done);
}

/** Resolves at the first signal. One handler for all the life of the process: a signal between two of them would be lost. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    let before = false;
    const heard = () => {
      if (before) process.exit(exitCode.fault);
      before = true;
      resolve();
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, heard);
  });
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

async function serve(order: ServeOrder, told: Promise<void>): Promise<void> {
  const server = await startServer({
    order: { ...order, threads: order.threads ?? cpusWithin(availableParallelism(), textOf) },
    program: process.argv[1] ?? '',
    clock: systemClock,
    log,
    lost: (error) => end(exitCode.fault, `the thread of the model was lost: ${error.message}`),
  });
  log.info('ready', { ...server.facts });
  await told;
  await drain(server);
}

async function main(): Promise<void> {
  if (process.argv.includes('--help')) return void process.stdout.write(serveHelp());
  const heard = heardServe(process.argv.slice(2));
  if ('wrong' in heard) return end(wrongArguments, heard.wrong);
  const told = signalled();
  process.on('uncaughtException', (error) => {
    log.error('ending because of an error that nobody expected', { error, stack: error.stack });
    end(exitCode.fault, error.message);
  });
  try {
    await serve(heard.order, told);
  } catch (error) {
    if (error instanceof ModelFailure) end(exitCode.verdict, error.message);
    throw error;
  }
}

if (isMainThread) await main();
else if (parentPort) await beThread(parentPort, workerData as ThreadOrder);
