// One builder at a time, by a socket that the builder listens on: whoever comes later connects and waits for the
// connection to end. The kernel closes it with the process, so a crashed builder never leaves a lock behind. If two
// find the same dead socket at once both may build: that costs time and nothing else, as finished programs are renamed into place.

import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';

/** Runs `work` when no other process holds the socket at `path`; `waiting` is called once if it has to wait. */
export async function withLock<T>(path: string, waiting: () => void, work: () => Promise<T>): Promise<T> {
  let told = false;
  for (;;) {
    const release = await acquire(path);
    if (release) return await work().finally(release);
    if (!told) waiting();
    told = true;
    if ((await holderGone(path)) === 'dead') rmSync(path, { force: true });
  }
}

/** Listens, and gives what ends that and tells everybody who waits; nothing if somebody else listens. */
function acquire(path: string): Promise<(() => void) | undefined> {
  const waiters = new Set<Socket>();
  const server = createServer((socket) => waiters.add(socket.on('error', () => socket.destroy())));
  const release = () => {
    server.close();
    for (const waiter of waiters) waiter.destroy();
  };
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(path, () => resolve(release));
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
