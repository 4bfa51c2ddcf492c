// The three pages that a cluster reads of an operator: is it alive, is it ready, what are its numbers. Both probes always
// list every check with its reason, so that a person who opens the page, or reads the pod's events, sees the cause.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metricsType } from '../base/index.ts';

/** One thing that must hold. */
export interface Check {
  name: string;
  ok: boolean;
  /** Why it does not hold, or what is to be known although it does. */
  reason?: string;
}

/** What is checked: failing `live` asks for a restart, failing `ready` for attention. */
export interface Checks {
  live: readonly Check[];
  ready: readonly Check[];
}

export interface HealthOptions {
  /** 0 takes any free port. */
  port: number;
  host: string;
  checks: () => Checks;
  /** The numbers, in Prometheus' text format. */
  metrics: () => string;
}

/** Pages that are being served. */
export interface Health {
  readonly port: number;
  close(): Promise<void>;
}

/** The address of the probes cannot be had: another must be named. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

const whyNot: Record<string, string> = {
  EADDRINUSE: 'another process listens there',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this process may not use that port',
  ENOTFOUND: 'that host is not known',
};

interface Page {
  status: number;
  type: string;
  text: string;
}

const plain = 'text/plain; charset=utf-8';
/** Probes are short; whoever is slower than this is not one. */
const answerWithin = 5_000;
const mostConnections = 100;

/** Serves `/livez`, `/readyz` and `/metrics`. */
export async function startHealth({ port, host, checks, metrics }: HealthOptions): Promise<Health> {
  const pages: Record<string, () => Page> = {
    '/livez': () => probe('livez', checks().live),
    '/readyz': () => probe('readyz', checks().ready),
    '/metrics': () => ({ status: 200, type: metricsType, text: metrics() }),
  };
  const server = createServer((request, response) => answer(response, request, pageFor(pages, request)));
  server.requestTimeout = server.headersTimeout = answerWithin;
  server.maxConnections = mostConnections;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    throw new CannotListen(`cannot serve probes on ${host}:${port}: ${whyNot[code] ?? code}`, { cause });
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function pageFor(pages: Record<string, () => Page>, { method, url = '' }: IncomingMessage): Page {
  const page = Object.hasOwn(pages, pathOf(url)) ? pages[pathOf(url)] : undefined;
  if (!page) return { status: 404, type: plain, text: `There are ${Object.keys(pages).join(', ')} here.\n` };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, type: plain, text: 'Only GET is answered here.\n' };
  try {
    return page();
  } catch (error) {
    return { status: 500, type: plain, text: `The page could not be made: ${String(error)}\n` };
  }
}

const pathOf = (url: string): string => url.split('?')[0] ?? '';

function answer(response: ServerResponse, { method }: IncomingMessage, { status, type, text }: Page): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(method === 'HEAD' ? undefined : text);
}

/** The page of a probe: one line a check, the verdict last. */
function probe(name: string, checks: readonly Check[]): Page {
  const ok = checks.every((check) => check.ok);
  const lines = checks.map((check) => {
    const reason = check.reason === undefined ? '' : `: ${check.reason.replace(/\s+/g, ' ')}`;
    return `${check.ok ? '[+]' : '[-]'}${check.name} ${check.ok ? 'ok' : 'failed'}${reason}\n`;
  });
  const verdict = `${name} check ${ok ? 'passed' : 'failed'}\n`;
  return { status: ok ? 200 : 503, type: plain, text: lines.join('') + verdict };
}
