// A server that files are downloaded from. Each test says what it does with a request; what is honest about serving a
// file, ranges and conditions, is here once.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';

/** A running server. */
export interface Origin extends AsyncDisposable {
  port: number;
  /** Address and port. */
  host: string;
  /** What it was asked, in order. */
  requests: { path: string; headers: IncomingMessage['headers'] }[];
  /** Connections that reached it. */
  connections(): number;
}

/** Starts a server on loopback. */
export async function startOrigin(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { tls, address = '127.0.0.1' }: { tls?: { cert: string; key: string }; address?: string } = {},
): Promise<Origin> {
  const requests: Origin['requests'] = [];
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    response.on('error', () => {});
    answer(request, response);
  };
  const server: Server = tls ? createSecureServer(tls, listener) : createServer(listener);
  server.on('connection', () => connections++);
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { port, host: `${address}:${port}`, requests, connections: () => connections, [Symbol.asyncDispose]: stop };
}

/** How a file is served. */
export interface Serving {
  etag?: string;
  modified?: string;
  /** Without it, requests for ranges get everything. */
  ranges?: 'no';
  /** Bytes of this answer after which the connection is cut. */
  cutAfter?: number | undefined;
  headers?: Record<string, string>;
}

/** Serves a file as an honest server does, but for what `serving` says. */
export function serve(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  serving: Serving = {},
): void {
  const { etag, modified, ranges, cutAfter, headers } = serving;
  const version = { ...(etag !== undefined && { etag }), ...(modified !== undefined && { 'last-modified': modified }) };
  const condition = request.headers['if-range'];
  const asked = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const stands = condition === undefined || condition === etag || condition === modified;
  if (!asked || ranges === 'no' || !stands) {
    response.writeHead(200, { ...version, 'content-length': content.length, ...headers });
    return send(response, content, cutAfter);
  }
  const [from, to] = [Number(asked[1]), Math.min(content.length, Number(asked[2] || content.length) + 1)];
  if (from >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
    return;
  }
  const range = `bytes ${from}-${to - 1}/${content.length}`;
  response.writeHead(206, { ...version, 'content-range': range, 'content-length': to - from, ...headers });
  send(response, content.subarray(from, to), cutAfter);
}

function send(response: ServerResponse, bytes: Buffer, cutAfter: number | undefined): void {
  if (cutAfter === undefined || cutAfter >= bytes.length) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, cutAfter), () => setTimeout(() => response.destroy(), 20));
}
