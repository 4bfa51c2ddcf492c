// A question to the API server, ready for the wire: the body is text already, the words for messages are made when one
// is needed, which is seldom.

import type { Kind } from '../../objects/index.ts';
import type { Question } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request. */
export interface Request extends Question {
  readonly method: Method;
  readonly body?: string | undefined;
  readonly contentType: string;
  readonly accept: string;
  /** Whether it changes something, and so must pass the fence. */
  readonly write: boolean;
}

export const json = 'application/json';

/** What a verb says about its request; a body is JSON unless `contentType` calls it something else. */
export interface Asked {
  verb: string;
  method: Method;
  path: string;
  body?: unknown;
  contentType?: string;
  accept?: string;
}

/** What a request is about. A list has no name, a cluster-wide one not even a namespace. */
export interface About {
  namespace?: string | undefined;
  name?: string;
}

/** A request about objects of one kind. */
export class KindRequest implements Request {
  readonly verb: string;
  readonly method: Method;
  readonly path: string;
  readonly body: string | undefined;
  readonly contentType: string;
  readonly accept: string;
  readonly write: boolean;
  readonly #kind: Kind;
  readonly #about: About;

  constructor(kind: Kind, about: About, { verb, method, path, body, contentType, accept }: Asked) {
    this.verb = verb;
    this.method = method;
    this.path = path;
    this.body = body === undefined ? undefined : JSON.stringify(body);
    this.contentType = body === undefined ? '' : (contentType ?? json);
    this.accept = accept ?? json;
    this.write = method !== 'GET';
    this.#kind = kind;
    this.#about = about;
  }

  get resource(): string {
    return this.#kind.plural;
  }

  get target(): string {
    const { namespace, name } = this.#about;
    if (name === undefined) return namespace ? `${this.#kind.plural} in ${namespace}` : this.#kind.plural;
    return namespace ? `${this.#kind.kind} ${namespace}/${name}` : `${this.#kind.kind} ${name}`;
  }
}

/** Questions that are asked by POST and change nothing. */
const reviews = /^\/apis\/(authorization|authentication)\.k8s\.io\//;

/** A request about a path that belongs to no kind. */
export const rawRequest = (asked: {
  method: Method;
  path: string;
  search: string;
  body: string | undefined;
  contentType: string;
  accept: string;
}): Request => ({
  verb: asked.method.toLowerCase(),
  method: asked.method,
  resource: 'raw',
  path: asked.path + asked.search,
  target: asked.path,
  body: asked.body,
  contentType: asked.body === undefined ? '' : asked.contentType,
  accept: asked.accept,
  write: asked.method !== 'GET' && !reviews.test(asked.path),
});
