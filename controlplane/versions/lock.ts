// One at a time, by a socket that the holder listens on: whoever comes later connects and waits for the connection to
// end. The kernel closes it with the process, so a holder that crashed never leaves a lock behind. An address that
// begins with a zero byte is a name in the kernel of Linux and goes with the process too. Elsewhere a file remains: if
// two find the same dead one at once both may begin.

import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';

/** Runs `work` when no other process holds the socket at `address`; `waiting` is called once if it has to wait. */
export async function withLock<T>(address: string, waiting: () => void, work: () => Promise<T>): Promise<T> {
  let told = false;
  for (;;) {
    const release = await acquire(address);
    if (release) return await work().finally(release);
    if (!told) waiting();
    told = true;
    if ((await holderGone(address)) === 'dead' && !address.startsWith('\0')) rmSync(address, { force: true });
  }
}

/** Listens, and gives what ends that and tells everybody who waits; nothing if somebody else listens. */
export function acquire(address: string): Promise<(() => void) | undefined> {
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
    server.listen(address, () => resolve(release));
    server.unref();
  });
}

/** Resolves when the holder has ended: `released` after a connection, `dead` when nobody listens any more. */
function holderGone(address: string): Promise<'released' | 'dead'> {
  return new Promise((resolve) => {
    let connected = false;
    const socket = connect(address, () => {
      connected = true;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(connected ? 'released' : 'dead'));
    socket.resume();
  });
}
