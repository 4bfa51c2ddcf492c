// The way to the real API server: one pool of connections that nobody else uses, with no deadline of its own, since a
// watch may be silent and a held request late. The caller's headers go through as they are, its token above all.

import type { IncomingHttpHeaders } from 'node:http';
import { Pool } from 'undici';

/** Where the real API server is, and the certificate authority that it shows. */
export interface UpstreamAddress {
  url: string;
  caPem: string;
}

/** A request as it goes out. */
export interface Outgoing {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Holds an answer back, lets it run, or gives it up. */
export interface Flow {
  pause(): void;
  resume(): void;
  abort(): void;
}

/** Takes an answer as it comes. After `failed`, and once it was given up, nothing more is called. */
export interface Taker {
  start(status: number, headers: IncomingHttpHeaders, flow: Flow): void;
  data(chunk: Buffer): void;
  end(): void;
  failed(error: Error): void;
}

export interface Upstream {
  /** Sends at once; the returned function gives the request up, also before there is an answer. */
  send(outgoing: Outgoing, taker: Taker): () => void;
  close(): Promise<void>;
}

/**
 * Headers that belong to one connection, not to the request. Compression is left out with them: the trace reads the
 * answers, and on loopback it only costs time.
 */
const perHop = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'upgrade', 'expect'];
const perHopOut = new Set([...perHop, 'accept-encoding']);
const perHopBack = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** Connects to the API server. */
export function makeUpstream({ url, caPem }: UpstreamAddress): Upstream {
  const pool = new Pool(url, {
    allowH2: false,
    connect: { ca: caPem },
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 60_000,
  });
  return {
    close: () => pool.destroy(),
    send({ method, path, headers, body }, taker) {
      const state: { flow?: Flow; ended: boolean; givenUp: boolean } = { ended: false, givenUp: false };
      pool.dispatch(
        { method, path, headers: without(headers, perHopOut), body: body.length === 0 ? null : body },
        {
          onRequestStart(controller) {
            state.flow = {
              pause: () => controller.pause(),
              resume: () => controller.resume(),
              abort() {
                state.givenUp = true;
                if (!state.ended) controller.abort(new Error('given up by the proxy'));
              },
            };
            if (state.givenUp) state.flow.abort();
          },
          onResponseStart: (_, status, answered) =>
            state.flow && taker.start(status, without(answered, perHopBack), state.flow),
          onResponseData: (_, chunk) => taker.data(chunk),
          onResponseEnd() {
            state.ended = true;
            taker.end();
          },
          onResponseError(_, error) {
            state.ended = true;
            if (!state.givenUp) taker.failed(error);
          },
        },
      );
      return () => {
        state.givenUp = true;
        state.flow?.abort();
      };
    },
  };
}

const without = (headers: IncomingHttpHeaders, names: ReadonlySet<string>): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name)));
