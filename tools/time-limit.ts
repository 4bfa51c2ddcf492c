// Preloaded into every test file (see the Makefile): ends the file's process when it takes too long. The runner's own
// --test-timeout ends a test, but neither a loop that never yields nor a socket that was left open; a thread sees both.

import { isMainThread, Worker } from 'node:worker_threads';

const minutes = 15;

/** Runs in the thread: says which file it was, then ends the whole process. */
const watchdog = `
  const { workerData } = require('node:worker_threads');
  setTimeout(() => {
    require('node:fs').writeSync(2, workerData.message);
    process.kill(process.pid, 'SIGKILL');
  }, workerData.limit);
`;

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const message = `${process.argv[1]} was still running after ${minutes} minutes: it hangs, or left something open\n`;
  const workerData = { limit: minutes * 60_000, message };
  new Worker(watchdog, { eval: true, execArgv: [], workerData }).unref();
}
