// A plain caller for the tests of the fault proxy: one request or one watch, over a connection of its own where that
// matters, with a bound on every wait. The engine's client is not used here, since the proxy is there to test it.

import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from '../../controlplane/faults/index.ts';

/** How a call ended: answered, or broken off with what had come until then. */
export type Ended =
  | { status: number; headers: IncomingMessage['headers']; text: string; body: Json }
  | { broken: string; text: string };

export interface Json {
  kind: string;
  reason?: string;
  message?: string;
  metadata: { name: string; resourceVersion: string; uid: string };
  details?: { name?: string; kind?: string; retryAfterSeconds?: number };
  data?: Record<string, string>;
  items?: Json[];
}

export interface Event {
  type: string;
  object: Json;
}

/** A watch as its caller sees it. */
export interface Watching {
  /** All that came, as text. */
  text(): string;
  /** Sizes of the pieces in which it came. */
  pieces(): number[];
  /** Waits until so many whole lines have come, and gives them parsed. */
  events(count: number): Promise<Event[]>;
  /** Waits for the end: `clean`, or the error. */
  ended(): Promise<string>;
  leave(): void;
}

export interface Caller {
  call(method: string, path: string, body?: object, contentType?: string): Promise<Ended>;
  /** Opens a watch; resolves with the answer's head. */
  watch(query?: string): Promise<Watching>;
}

/** Where all tests of this part play. */
export const maps = '/api/v1/namespaces/default/configmaps';

/** Somebody with a token who calls this address. */
export function callerAt(url: string, ca: string, token: string): Caller {
  const open = (method: string, path: string, contentType = 'application/json') =>
    request(new URL(path, url), {
      method,
      ca,
      agent: false,
      headers: { authorization: `Bearer ${token}`, 'user-agent': 'caller/1', 'content-type': contentType },
    });
  return {
    call: (method, path, body, contentType) =>
      new Promise((resolve) => {
        const chunks: Buffer[] = [];
        const broken = (error: Error) => resolve({ broken: error.message, text: Buffer.concat(chunks).toString() });
        const sent = open(method, path, contentType).on('error', broken);
        sent.on('response', (answer) => {
          answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', broken);
          answer.on('end', () => resolve(whole(answer, Buffer.concat(chunks).toString())));
        });
        sent.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    watch: (query = '') =>
      new Promise((resolve, reject) => {
        const sent = open('GET', `${maps}?watch=1${query}`).on('error', reject);
        sent.on('response', (answer) => {
          if (answer.statusCode === 200) resolve(watchingOf(answer));
          else reject(new Error(`watch was answered with ${answer.statusCode}`));
        });
        sent.end();
      }),
  };
}

function whole(answer: IncomingMessage, text: string): Ended {
  let body = {} as Json;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    // A test that expects an object fails on the empty one.
  }
  return { status: answer.statusCode ?? 0, headers: answer.headers, text, body };
}

function watchingOf(answer: IncomingMessage): Watching {
  const chunks: Buffer[] = [];
  let end: string | undefined;
  const text = () => Buffer.concat(chunks).toString();
  const lines = () => text().split('\n').slice(0, -1);
  answer.on('data', (chunk: Buffer) => chunks.push(chunk));
  answer.on('end', () => (end ??= 'clean')).on('error', (error) => (end ??= error.message));
  return {
    text,
    pieces: () => chunks.map(({ length }) => length),
    async events(count) {
      await eventually(
        () => lines().length >= count,
        () => `${count} events, got ${lines().length}: ${text()}`,
      );
      return lines().map((line) => JSON.parse(line) as Event);
    },
    async ended() {
      await eventually(
        () => end !== undefined,
        () => 'the end of the watch',
      );
      return end ?? '';
    },
    leave: () => void answer.destroy(),
  };
}

const patience = 10_000;

/** Waits until a claim holds; gives up after ten seconds. */
export async function eventually(holds: () => boolean, what: () => string = () => String(holds)): Promise<void> {
  for (const start = performance.now(); !holds(); await pause(5))
    if (performance.now() - start > patience) throw new Error(`waited ten seconds for ${what()}`);
}

/** Waits. */
export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** The story's stage: one control plane, with somebody who may do everything to ConfigMaps and nothing else. */
export interface Stage {
  plane: ControlPlane;
  token: string;
  /** The caller without a proxy between. */
  direct: Caller;
  /** A proxy of one's own, and the caller through it. */
  through(options?: Partial<FaultProxyOptions>): Promise<{ proxy: FaultProxy; caller: Caller }>;
  /** Ends all proxies. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Sets the stage. */
export async function setStage(): Promise<Stage> {
  const plane = await startControlPlane({ controllers: 'none' });
  const proxies: FaultProxy[] = [];
  for (const args of [
    ['create', 'serviceaccount', 'caller'],
    ['create', 'role', 'caller', '--verb=*', '--resource=configmaps'],
    ['create', 'rolebinding', 'caller', '--role=caller', '--serviceaccount=default:caller'],
  ])
    await plane.kubectl(args);
  const token = await plane.token('default', 'caller');
  const clear = async () => void (await Promise.all(proxies.splice(0).map((proxy) => proxy.stop())));
  return {
    plane,
    token,
    direct: callerAt(plane.url, plane.caPem, token),
    clear,
    async through(options = {}) {
      const proxy = await startFaultProxy({ upstream: plane, ...options });
      proxies.push(proxy);
      return { proxy, caller: callerAt(proxy.url, proxy.caPem, token) };
    },
    async stop() {
      await clear();
      await plane.stop();
    },
  };
}

/** A ConfigMap. */
export const map = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
