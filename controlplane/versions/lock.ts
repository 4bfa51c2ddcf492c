// One builder at a time, by a socket that the builder listens on: whoever comes later connects and waits for the
// connection to end. The kernel closes it with the process, so a crashed builder never leaves a lock behind. If two
// find the same dead socket at once both may build: that costs time and nothing else, as finished programs are renamed into place.

import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';

/** Runs `work` when no other process holds the socket at `path`; `waiting` is called once if it has to wait. */
export async function withLock<T>(path: string, waiting: () => void, work: () => Promise<T>): Promise<T> {
  let told = false;
  for (;;) {
    const server = await listen(path);
    if (server) return await work().finally(() => server.close());
    if (!told) waiting();
    told = true;
    if ((await holderGone(path)) === 'dead') rmSync(path, { force: true });
  }
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => socket.destroy()).unref());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(path, () => resolve(server));
  });
}

/** Resolves when the holder has ended: `released` after a connection, `dead` when nobody listens any more. */
function holderGone(path: string): Promise<'released' | 'dead'> {
  return new Promise((resolve) => {
    let connected = false;
    const socket = connect(path, () => {
      connected = true;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(connected ? 'released' : 'dead'));
    socket.resume();
  });
}
