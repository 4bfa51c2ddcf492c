// Whether a request or a watch event is one of those that a plan or a test asks about.

import type { CallFilter, EventFilter, Words } from './plan.ts';

/** The fields of a request that a filter can ask for. */
export type Filterable = { readonly [K in keyof CallFilter]-?: string };

/** A watch event as far as filters look at it. */
export interface FilterableEvent {
  readonly type: string;
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const typeOf = { create: 'ADDED', update: 'MODIFIED', delete: 'DELETED', bookmark: 'BOOKMARK' };
const eventFields = ['group', 'resource', 'kind', 'namespace', 'name'] as const;

/** Whether the request has all that the filter names. */
export function matches(filter: CallFilter, call: Filterable): boolean {
  return (Object.keys(filter) as (keyof CallFilter)[]).every((field) => includes(filter[field], call[field]));
}

/** Whether the event is about the object that the filter names, whatever happened to it. */
export const isAbout = (filter: EventFilter, event: FilterableEvent): boolean =>
  eventFields.every((field) => includes(filter[field], event[field]));

/** Whether the event is of the filter's type; without one, every change of an object is, and bookmarks are not. */
export const happened = ({ on }: EventFilter, { type }: FilterableEvent): boolean =>
  on === undefined ? type !== 'BOOKMARK' && type !== 'ERROR' : type === typeOf[on];

const includes = (words: Words | undefined, word: string): boolean =>
  words === undefined || (typeof words === 'string' ? words === word : words.includes(word));
