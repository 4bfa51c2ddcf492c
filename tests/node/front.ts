// A way by HTTP to a server, which is reset when so many bytes have gone over it, and remembers what it carried: by that a
// test tells a download that went on where it was cut from one that began again.

import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One answer on its way. */
export interface Carried {
  path: string;
  status: number;
  /** The first byte of the file in it, and how many were sent. */
  from: number;
  bytes: number;
  cut: boolean;
}

export interface Front extends AsyncDisposable {
  /** Address and port. */
  host: string;
  log: Carried[];
}

/** From where to where, and at which numbers of bytes over all answers it is cut. */
interface Way {
  address: string;
  /** Address and port. */
  upstream: string;
  cuts: readonly number[];
}

/** Opens a way. */
export async function startFront({ address, upstream, cuts }: Way): Promise<Front> {
  const carrier = new Carrier(cuts);
  const { hostname, port } = new URL(`http://${upstream}`);
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', rawHeaders: headers } = incoming;
    const onward = request({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
      carrier.carry(url, answer, outgoing).catch(() => outgoing.destroy());
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('error', () => {}).on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, address);
  await once(server, 'listening');
  return {
    host: `${address}:${(server.address() as AddressInfo).port}`,
    log: carrier.log,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

class Carrier {
  readonly log: Carried[] = [];
  readonly #cuts: number[];
  #sent = 0;

  constructor(cuts: readonly number[]) {
    this.#cuts = [...cuts];
  }

  async carry(path: string, answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { statusCode: status = 0, headers, rawHeaders } = answer;
    const from = Number(/^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1] ?? 0);
    const carried: Carried = { path, status, from, bytes: 0, cut: false };
    this.log.push(carried);
    outgoing.writeHead(status, rawHeaders);
    for await (const piece of answer as AsyncIterable<Buffer>) {
      const part = piece.subarray(0, (this.#cuts[0] ?? Number.POSITIVE_INFINITY) - this.#sent);
      this.#sent += part.length;
      carried.bytes += part.length;
      if (!outgoing.write(part)) await room(outgoing);
      if (part.length < piece.length) {
        this.#cuts.shift();
        carried.cut = true;
        outgoing.socket?.resetAndDestroy();
      }
      if (outgoing.destroyed) return;
    }
    outgoing.end();
  }
}

/** Waits until more can be written, or nothing ever can. */
async function room(outgoing: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race(['drain', 'close'].map((event) => once(outgoing, event, { signal }).catch(() => {})));
  over.abort();
}

/** The answers that were cut. */
export const cutOnes = (log: readonly Carried[]): Carried[] => log.filter(({ cut }) => cut);

/** Whether what was cut was gone on with where it had come to, and not from its beginning. */
export const isResumed = (log: readonly Carried[], { path, from, bytes }: Carried): boolean =>
  log.some((one) => one.path === path && one.status === 206 && one.from > from && one.from <= from + bytes);

/** Bytes that were sent of a file. */
export const sentOf = (log: readonly Carried[], path: string): number =>
  log.filter((one) => one.path === path).reduce((sum, { bytes }) => sum + bytes, 0);
