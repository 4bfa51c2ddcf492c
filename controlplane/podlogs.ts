// The one thing that is asked of a node: the logs of its containers. A simulated pod says in an annotation what it
// would have printed; this server, at the place where a kubelet would be, answers with that. The text may grow while
// somebody follows it.

import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from './api.ts';
import type { Identities } from './files.ts';
import { downloads, progressAfter } from './stages/downloads.ts';
import { prefix } from './stages/next.ts';

/** A running log server. */
export interface LogServer {
  port: number;
  close(): Promise<void>;
}

/** Listens on loopback; only the API server's own certificate is let in. */
export async function serveLogs({ ca, node }: Identities, ask: Ask): Promise<LogServer> {
  const tls = { ca, cert: node.certificate, key: node.key, requestCert: true, rejectUnauthorized: true };
  const server = createServer(tls, (request, response) => {
    answer(new URL(request.url ?? '/', 'https://node'), ask, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface ContainerStatus {
  name: string;
  state?: {
    waiting?: { reason?: string };
    running?: { startedAt: string };
    terminated?: { startedAt: string; finishedAt: string };
  };
  lastState?: { terminated?: unknown };
}

interface Pod {
  metadata: { name: string; annotations?: Record<string, string>; labels?: Record<string, string> };
  status?: { containerStatuses?: ContainerStatus[]; initContainerStatuses?: ContainerStatus[] };
}

const followEvery = 200;

async function answer(url: URL, ask: Ask, response: ServerResponse): Promise<void> {
  const [, verb, namespace, name, container = ''] = url.pathname.split('/');
  if (verb !== 'containerLogs') return void response.writeHead(404).end(`${verb} is not simulated`);
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const found = await ask({ path });
  if (found.status !== 200) return void response.writeHead(404).end(`pod ${name} not found`);
  let pod = found.body as Pod;
  const refusal = whyNot(pod, container, url);
  if (refusal) return void response.writeHead(400).end(refusal);
  let text = printed(pod, container);
  response.writeHead(200, { 'content-type': 'text/plain' }).write(cut(text, url.searchParams));
  while (url.searchParams.get('follow') === 'true' && statusOf(pod, container)?.state?.running && !response.destroyed) {
    await sleep(followEvery);
    const again = await ask({ path });
    if (again.status !== 200) break;
    pod = again.body as Pod;
    const grown = printed(pod, container);
    if (grown.startsWith(text)) response.write(grown.slice(text.length));
    text = grown;
  }
  response.end();
}

/** As a kubelet refuses: in words that people search for. */
function whyNot(pod: Pod, container: string, { searchParams }: URL): string | undefined {
  const { name } = pod.metadata;
  const status = statusOf(pod, container);
  if (searchParams.get('previous') === 'true' && !status?.lastState?.terminated) {
    return `previous terminated container "${container}" in pod "${name}" not found`;
  }
  const reason = status?.state?.waiting?.reason;
  if (!status || (reason && !status.lastState?.terminated)) {
    return `container "${container}" in pod "${name}" is waiting to start: ${reason ?? 'ContainerCreating'}`;
  }
  return undefined;
}

const statusOf = ({ status }: Pod, container: string): ContainerStatus | undefined =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
    ({ name }) => name === container,
  );

/** The container's own annotation, or the one of the pod, or what a download prints; the last line is a whole one. */
function printed(pod: Pod, container: string): string {
  const { annotations = {} } = pod.metadata;
  const text = annotations[`${prefix}logs.${container}`] ?? annotations[`${prefix}logs`] ?? progressOf(pod, container);
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** A download that is not asked to fail prints how far it is, by the time that it has been running. */
function progressOf(pod: Pod, container: string): string {
  const { annotations = {}, labels = {} } = pod.metadata;
  if (labels[downloads.label] !== downloads.component) return '';
  const { running, terminated } = statusOf(pod, container)?.state ?? {};
  const began = Date.parse((running ?? terminated)?.startedAt ?? '');
  if (Number.isNaN(began)) return '';
  const now = terminated ? Date.parse(terminated.finishedAt) : Date.now();
  return progressAfter(now - began, lengthOf(annotations[`${prefix}run-for`]));
}

/** A Go duration of one unit in milliseconds; whatever else is asked for, the lines take their usual time. */
function lengthOf(duration: string | undefined): number | undefined {
  const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(duration ?? '') ?? [];
  return count === undefined ? undefined : Number(count) * ({ ms: 1, s: 1_000, m: 60_000 }[unit ?? 's'] ?? 1);
}

function cut(text: string, query: URLSearchParams): string {
  const lines = query.get('tailLines');
  const bytes = query.get('limitBytes');
  const kept =
    lines === null
      ? text
      : text
          .split('\n')
          .slice(-Number(lines) - 1)
          .join('\n');
  return bytes === null ? kept : Buffer.from(kept).subarray(0, Number(bytes)).toString();
}
