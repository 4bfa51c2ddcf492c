// Our model server as a program: `node src/programs/serve/main.ts --model=/models/model --port=8080`. The only place that reads
// arguments, clock and signals. The same file is also the start of the thread in which long runs are done.

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { exitCode, heardServe, type ServeOrder } from '../../api/index.ts';
import { makeLog, systemClock } from '../../base/index.ts';
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

/** A server that is not ready yet just ends. One handler for all its life: a signal between two of them would be lost. */
let stop = (_signal: string): void => process.exit(exitCode.done);
for (const signal of ['SIGTERM', 'SIGINT'] as const) if (isMainThread) process.on(signal, () => stop(signal));

/** The first signal drains; whoever sends a second one does not want to wait. */
function drainOnSignals(server: ModelServer): void {
  stop = (signal) => {
    stop = () => process.exit(exitCode.fault);
    log.info('draining', { signal });
    void server.drain().then(() => {
      log.info('drained');
      process.exit(exitCode.done);
    });
  };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

async function serve(order: ServeOrder): Promise<void> {
  const server = await startServer({
    order: { ...order, threads: order.threads ?? cpusWithin(availableParallelism(), textOf) },
    program: process.argv[1] ?? '',
    clock: systemClock,
    log,
    lost: (error) => end(exitCode.fault, `the thread of the model was lost: ${error.message}`),
  });
  drainOnSignals(server);
  log.info('ready', { ...server.facts });
}

async function main(): Promise<void> {
  const heard = heardServe(process.argv.slice(2));
  if ('wrong' in heard) return end(wrongArguments, heard.wrong);
  process.on('uncaughtException', (error) => {
    log.error('ending because of an error that nobody expected', { error, stack: error.stack });
    end(exitCode.fault, error.message);
  });
  try {
    await serve(heard.order);
  } catch (error) {
    if (error instanceof ModelFailure) end(exitCode.verdict, error.message);
    throw error;
  }
}

if (isMainThread) await main();
else if (parentPort) await beThread(parentPort, workerData as ThreadOrder);
