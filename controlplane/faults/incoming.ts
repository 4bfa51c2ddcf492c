// A request as it arrives: read to its end, since a plan may ask for the name inside its body, and described for the
// trace.

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parsed } from './answers.ts';
import { classify } from './classify.ts';
import type { Call } from './trace.ts';
import type { Outgoing } from './upstream.ts';

/** The whole request. Fails when the caller breaks off in the middle. */
export async function receive(request: IncomingMessage): Promise<Outgoing> {
  const { method = 'GET', url: path = '/', headers } = request;
  const chunks: Buffer[] = [];
  if (method !== 'GET' && method !== 'HEAD') for await (const chunk of request) chunks.push(chunk as Buffer);
  return { method, path, headers, body: Buffer.concat(chunks) };
}

interface AnyBody {
  metadata?: { name?: string; resourceVersion?: string };
  preconditions?: { resourceVersion?: string };
}

/** The request in the words of the trace. */
export function describe({ method, path, headers, body }: Outgoing, at: number): Omit<Call, 'seq'> {
  const contentType = headers['content-type'] ?? '';
  const target = classify(method, path, contentType);
  const query = new URLSearchParams(path.split('?', 2)[1]);
  const text = body.toString('utf8');
  const { metadata, preconditions } = bodyOf(text);
  const inBody = metadata?.resourceVersion ?? preconditions?.resourceVersion ?? '';
  const name = target.name === '' && target.verb === 'create' ? (metadata?.name ?? '') : target.name;
  return {
    ...target,
    name,
    at,
    fieldManager: query.get('fieldManager') ?? '',
    dryRun: query.get('dryRun') === 'All',
    resourceVersion: query.get('resourceVersion') ?? inBody,
    sendInitialEvents: query.get('sendInitialEvents') === 'true',
    contentType,
    userAgent: headers['user-agent'] ?? '',
    bodyHash: text === '' ? '' : createHash('sha256').update(body).digest('hex').slice(0, 16),
    body: text,
    sentAt: undefined,
    answer: undefined,
    deliveredAt: undefined,
    failure: undefined,
    faults: [],
    effective: undefined,
  };
}

/** Only an object has a name and a version in it; a JSON patch is a list. */
function bodyOf(text: string): AnyBody {
  const value = text === '' ? undefined : parsed(text);
  return typeof value === 'object' && value !== null ? value : {};
}
