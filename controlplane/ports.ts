// Ports for servers that must be told theirs. They come from below the range in which the system picks ports for
// outgoing connections, so that a server that is down for a moment finds its port free when it comes back.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const lowest = 16_000;
const beyond = 32_000;

/** A port of 127.0.0.1 that was free a moment ago; whoever loses it to somebody else starts again with another. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(lowest, beyond);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${lowest} and ${beyond} on 127.0.0.1`);
}

/** Whether a log says that its program found the port taken. */
export const portWasTaken = (log: string): boolean => /address already in use/i.test(log);

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
