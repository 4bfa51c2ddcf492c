// Turns what the API server sends into what the cache keeps. managedFields are nearly half of an object and nobody
// here reads them, so they are cut out of the text before it is parsed; of them one word remains: by which hand our
// field manager last wrote the object.

import { type Kind, type KubeObject, manager } from '../objects/index.ts';
import { shareParts } from './share.ts';

/** Our own entry in managedFields: none, made by a POST (`Update`), or only by server-side apply. */
export type Hand = 'none' | 'posted' | 'applied';

/** An object as the cache keeps it. */
export interface Entry<T extends KubeObject = KubeObject> {
  readonly object: T;
  readonly hand: Hand;
}

export type WatchEvent =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; entry: Entry }
  | { type: 'BOOKMARK'; resourceVersion: string; endsInitial: boolean }
  | { type: 'ERROR'; code: number; reason: string; message: string };

/** A line that is no watch event: the stream cannot be trusted after it. */
export class BrokenStream extends Error {
  override readonly name = 'BrokenStream';
}

const mark = '"managedFields":[';

/** One line of a watch of a kind. Throws BrokenStream for anything that is not an event. */
export function parseEvent(line: string, kind: Kind): WatchEvent {
  const [text, fields] = cut(line);
  const event = parseJson(text);
  const { type, object } = event;
  if (typeof object !== 'object' || object === null)
    throw new BrokenStream(`a watch event without an object: ${line.slice(0, 80)}`);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      // A watch of metadata only says PartialObjectMetadata; the rest of the engine knows the object by its own kind.
      return {
        type,
        entry: held(Object.assign(object, { apiVersion: kind.apiVersion, kind: kind.kind }) as KubeObject, fields),
      };
    case 'BOOKMARK':
      return bookmark(object as KubeObject);
    case 'ERROR':
      return failure(object);
    default:
      throw new BrokenStream(`an unknown watch event type: ${String(type).slice(0, 40)}`);
  }
}

/** The items of one page of a list. Items of a typed list do not repeat their apiVersion and kind. */
export function parsePage(text: string, kind: Kind): { entries: Entry[]; resourceVersion: string; next: string } {
  const page = parseJson(text);
  const { items, metadata } = page as {
    items?: KubeObject[];
    metadata?: { resourceVersion?: string; continue?: string };
  };
  if (!metadata?.resourceVersion) throw new BrokenStream('a list without a resourceVersion');
  const entries = (items ?? []).map((item) => {
    const fields = JSON.stringify((item.metadata as { managedFields?: unknown }).managedFields ?? []);
    const { metadata: meta, ...rest } = item;
    const { managedFields: _cut, ...kept } = meta as { managedFields?: unknown } & KubeObject['metadata'];
    // Parsed once more from its own text, so that no slack of the page stays in memory.
    const whole = { ...rest, apiVersion: kind.apiVersion, kind: kind.kind, metadata: kept };
    return held(JSON.parse(JSON.stringify(whole)) as KubeObject, fields);
  });
  return { entries, resourceVersion: metadata.resourceVersion, next: metadata.continue ?? '' };
}

/** The answer to a request of ours, as an entry. */
export function entryFrom(answer: KubeObject): Entry {
  const { managedFields, ...metadata } = answer.metadata as { managedFields?: unknown } & KubeObject['metadata'];
  return entryOf({ ...answer, metadata }, JSON.stringify(managedFields ?? []));
}

/** An object that was parsed for the cache alone, and may share its parts with others there. */
function held(object: KubeObject, fields: string): Entry {
  const entry = entryOf(object, fields);
  shareParts(object);
  return entry;
}

function entryOf(object: KubeObject, fields: string): Entry {
  if (!object.metadata?.name || !object.metadata.resourceVersion)
    throw new BrokenStream('an object without name or resourceVersion');
  return { object, hand: handIn(fields) };
}

/** Reads only `manager` and `operation`: inside fieldsV1 every quote is escaped, so the pattern cannot match there. */
function handIn(fields: string): Hand {
  if (!fields.includes(`"manager":"${manager.children}","operation":"`)) return 'none';
  return fields.includes(`"manager":"${manager.children}","operation":"Update"`) ? 'posted' : 'applied';
}

function bookmark({ metadata }: KubeObject): WatchEvent {
  if (!metadata?.resourceVersion) throw new BrokenStream('a bookmark without a resourceVersion');
  const endsInitial = metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
  return { type: 'BOOKMARK', resourceVersion: metadata.resourceVersion, endsInitial };
}

function failure({
  code = 0,
  reason = '',
  message = '',
}: {
  code?: number;
  reason?: string;
  message?: string;
}): WatchEvent {
  return { type: 'ERROR', code, reason, message };
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch (cause) {
    throw new BrokenStream(`not JSON: ${text.slice(0, 80)}`, { cause });
  }
}

/** Splits the text into everything but the first managedFields member, and that member's value. */
function cut(text: string): [rest: string, fields: string] {
  const start = text.indexOf(mark);
  if (start < 0) return [text, ''];
  const open = start + mark.length - 1;
  const end = closing(text, open);
  if (end < 0) return [text, ''];
  const fields = text.slice(open, end);
  if (text[end] === ',') return [text.slice(0, start) + text.slice(end + 1), fields];
  const before = text[start - 1] === ',' ? start - 1 : start;
  return [text.slice(0, before) + text.slice(end), fields];
}

/** The index after the bracket that closes the one at `open`, or -1. Brackets inside strings do not count. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at);
    else if (code === 91) depth++;
    else if (code === 93 && --depth === 0) return at + 1;
    if (at < 0) return -1;
  }
  return -1;
}

/** The index of the quote that ends the string begun at `start`, or a value that stops the caller. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    at = text.indexOf('"', at);
    if (at < 0) return Number.NEGATIVE_INFINITY;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return at;
    at++;
  }
}
