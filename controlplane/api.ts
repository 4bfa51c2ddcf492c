// Plain calls to the API server as admin: enough to set a control plane up and to look at it. One connection a call,
// so that a killed or paused server leaves nothing stale behind.

import { request } from 'node:https';
import type { Credentials } from './certificates.ts';

/** An answer of the API server; `body` is parsed JSON, or the text when it is no JSON. */
export interface Answer {
  status: number;
  body: unknown;
}

/** A call: method, path and query, an object to send. */
export interface Call {
  method?: string;
  path: string;
  body?: unknown;
  contentType?: string;
}

/** Sends one call and gives the whole answer. */
export type Ask = (call: Call) => Promise<Answer>;

const deadline = 30_000;

/** A function that calls the server at `url` with a client certificate. */
export function asker(url: string, ca: string, { certificate: cert, key }: Credentials): Ask {
  return ({ method = 'GET', path, body, contentType = 'application/json' }) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = text === undefined ? {} : { 'content-type': contentType };
      const options = { method, ca, cert, key, agent: false, headers, signal: AbortSignal.timeout(deadline) };
      const call = request(new URL(path, url), options, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part)).on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: parsed(Buffer.concat(parts)) }));
      });
      call.on('error', reject).end(text);
    });
}

/** The body of an answer that has to be a success. */
export async function must(ask: Ask, call: Call): Promise<unknown> {
  const { status, body } = await ask(call);
  if (status >= 200 && status < 300) return body;
  throw new Error(`${call.method ?? 'GET'} ${call.path} was answered with ${status}: ${JSON.stringify(body)}`);
}

function parsed(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
