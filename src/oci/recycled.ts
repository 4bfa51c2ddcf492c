// Connections whose bytes come in the same few buffers again and again. Node takes fresh memory for every read and gives
// it back late: of a large blob that is most of the cost and a hundred megabytes. Who reads such a connection is done
// with a piece before the next one comes, or copies it; undici's parser is, and so are our sinks.

import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** Makes a connection, or refuses to. It may be told where to put what comes: `onread`, as sockets take it. */
export type Connect = buildConnector.connector;

const size = 64 * 1024;
/** Heads of answers come in small pieces, and are kept until they are whole: those are copied. */
const smallest = 32 * 1024;

/** The same way to connect, with reused buffers. */
export const recycling =
  (connect: Connect): Connect =>
  (wanted, tell) => {
    const buffers = new Buffers();
    connect({ ...wanted, onread: buffers } as buildConnector.Options, (...result) => {
      const [error, socket] = result;
      if (error === null) buffers.serve(socket);
      tell(...result);
    });
  };

/** The `onread` of one socket: one buffer is being filled, one is being read, one is spare. */
class Buffers {
  readonly #all = Array.from({ length: 3 }, () => Buffer.allocUnsafeSlow(size));
  readonly #early: Buffer[] = [];
  #turn = 0;
  #socket: Socket | undefined;

  /** What came before the connection was handed out goes first. */
  serve(socket: Socket): void {
    this.#socket = socket;
    for (const piece of this.#early.splice(0)) socket.push(piece);
  }

  readonly buffer = (): Buffer => this.#all[this.#turn] ?? Buffer.alloc(0);

  /** False stops the reading until somebody has taken what is there. */
  readonly callback = (count: number, into: Uint8Array): boolean => {
    const piece = Buffer.from(into.buffer, into.byteOffset, count);
    if (!this.#socket) return this.#early.push(Buffer.from(piece)) < size;
    if (count < smallest || this.#socket.readableLength > 0) return this.#socket.push(Buffer.from(piece));
    this.#turn = (this.#turn + 1) % this.#all.length;
    return this.#socket.push(piece);
  };
}
