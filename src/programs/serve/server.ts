// The server as a whole: the model is loaded and warmed, then the port opens. `drain` ends it without a lost request.

import type { ServeOrder } from '../../api/index.ts';
import type { Clock, Log } from '../../base/index.ts';
import { Engine } from './engine/engine.ts';
import { Queue } from './engine/queue.ts';
import { Listener } from './http/listener.ts';
import { ServeMetrics } from './metrics.ts';
import { batchable } from './protocol/signature.ts';
import { serviceOf } from './service.ts';

export interface ServerOptions {
  order: ServeOrder & { threads: number };
  /** The program to start once more as a thread for long runs. */
  program: string;
  clock: Clock;
  log: Log;
  /** The model was lost while it served. */
  lost: (error: Error) => void;
}

export interface ModelServer {
  /** For the log; `loading` in milliseconds. */
  facts: { port: number; file: string; threads: number; together: boolean; loading: number };
  /** Not ready from now on; answers go on until no connection is left, or the time is over. */
  drain(): Promise<void>;
  /** Ends every connection, and the model after its present run. */
  close(): Promise<void>;
}

/** There is one, and it is the first. */
const version = '1';

/** Starts to serve; throws a ModelFailure if there is no model to serve. */
export async function startServer({ order, program, clock, log, lost }: ServerOptions): Promise<ModelServer> {
  const now = () => clock.monotonic();
  const { model, name, threads, port, host, bodyLimit } = order;
  const engine = await Engine.load({ model, threads, program, now, log, lost });
  const metrics = new ServeMetrics();
  metrics.loaded(engine.loading);
  const together = order.batching === 'auto' && batchable(engine.signature);
  const queue = new Queue(engine, {
    rows: together ? order.batchRows : 1,
    length: order.queue,
    ran: metrics.ran,
    now,
    mixed: () => log.warn('the model does not keep rows apart, so requests are run one by one from now on'),
  });
  const draining = () => listener.draining;
  const named = { name, version };
  const listener: Listener = await Listener.open({
    port,
    ...(host !== undefined && { host }),
    clock,
    bodyLimit,
    handle: serviceOf({ model: named, signature: engine.signature, queue, metrics, bodyLimit, draining, now, log }),
    refused: (status) => metrics.answered('none', status),
  });
  metrics.watch({ queue: () => queue.length, connections: () => listener.connections, draining });
  const loading = Math.round(engine.loading);
  return {
    facts: { port: listener.port, file: engine.file, threads, together, loading },
    drain: () => listener.drain(order.drainSeconds * 1_000),
    async close() {
      listener.close();
      await engine.release();
    },
  };
}
