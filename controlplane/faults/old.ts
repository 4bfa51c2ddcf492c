// Serving an older state of the world, as a lagging API server would to a caller that accepts any version. The state is
// not kept here: the real server still has it, and gives it out when it is asked for exactly that version.

import type { IncomingHttpHeaders } from 'node:http';
import { parsed } from './answers.ts';
import { lineOf } from './stream.ts';
import type { Outgoing } from './upstream.ts';

const onlyOfWatches = ['watch', 'sendInitialEvents', 'allowWatchBookmarks', 'timeoutSeconds'];

/** The same request as a list of exactly this version. */
export const listAt = (outgoing: Outgoing, resourceVersion: string): Outgoing => ({
  ...outgoing,
  headers: { ...outgoing.headers, accept: listAccept(outgoing.headers) },
  path: edited(outgoing.path, onlyOfWatches, { resourceVersion, resourceVersionMatch: 'Exact' }),
});

/** The same watch, from this version on. */
export const watchFrom = (outgoing: Outgoing, resourceVersion: string): Outgoing => ({
  ...outgoing,
  path: edited(outgoing.path, ['sendInitialEvents', 'resourceVersionMatch'], { resourceVersion }),
});

function edited(path: string, gone: readonly string[], set: Record<string, string>): string {
  const [place = '', text] = path.split('?', 2);
  const query = new URLSearchParams(text);
  for (const name of gone) query.delete(name);
  for (const [name, value] of Object.entries(set)) query.set(name, value);
  return `${place}?${query.toString()}`;
}

/** A watch that asks for metadata only asks for one object, a list for a list of them. */
const listAccept = ({ accept = 'application/json' }: IncomingHttpHeaders): string =>
  accept.replaceAll(/as=PartialObjectMetadata(?!List)/g, 'as=PartialObjectMetadataList');

interface AnyList {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion: string };
  items: object[];
}

/** A list as the events by which a watch begins; with `end`, also the bookmark that closes them. */
export function asEvents(list: Buffer, end: 'marked' | 'unmarked'): Buffer {
  const { kind, apiVersion, metadata, items } = parsed(list.toString('utf8')) as AnyList;
  const type = { kind: kind.replace(/List$/, ''), apiVersion };
  const added = items.map((item) => lineOf({ type: 'ADDED', object: { ...type, ...item } }));
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const { resourceVersion } = metadata;
  const mark = { type: 'BOOKMARK', object: { ...type, metadata: { resourceVersion, annotations } } };
  return Buffer.concat(end === 'marked' ? [...added, lineOf(mark)] : added);
}
