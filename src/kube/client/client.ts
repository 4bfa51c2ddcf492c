// The client: every verb of the API server as one method. Objects go in and come out as plain JSON, so a field that we
// have never heard of survives, and times stay the strings that the server wrote.

import type { Clock } from '../../base/index.ts';
import type { Kind, KubeObject } from '../../objects/index.ts';
import type { ClusterAccess } from './access.ts';
import { ask, type RequestOptions } from './call.ts';
import type { Answer } from './errors.ts';
import type { Line, Requested } from './exchange.ts';
import { collectionPath, objectPath, queryOf, type Ref } from './paths.ts';
import { json, KindRequest, type Method, rawRequest, type Request } from './request.ts';
import { follow, type WatchHandler } from './stream.ts';
import { Transport } from './transport.ts';

/** One page of a list; `continue` asks for the next. */
export interface ListPage<T> {
  items: T[];
  resourceVersion: string;
  continue?: string;
}

export interface ClientOptions {
  cluster: ClusterAccess;
  clock: Clock;
  /** Asked when a write is about to go onto the socket; its error stops the write before a byte is sent. */
  fence?: () => Error | undefined;
  onRequest?: (requested: Requested) => void;
  userAgent?: string;
}

/** Lists and watches may ask for metadata only: the objects then come as PartialObjectMetadata. */
export interface ReadOptions extends RequestOptions {
  metadataOnly?: boolean;
}
export interface CreateOptions extends RequestOptions {
  manager: string;
  /** Only judged and completed by the server, not stored. */
  dryRun?: boolean;
}
export interface ApplyOptions extends RequestOptions {
  manager: string;
  subresource?: string;
  /** Take over fields of other managers; on unless said otherwise. */
  force?: boolean;
}
export interface UpdateOptions extends RequestOptions {
  manager?: string;
  subresource?: string;
}
export interface PatchOptions extends UpdateOptions {
  type: 'json' | 'merge';
}
export interface DeleteOptions extends RequestOptions {
  uid?: string;
  resourceVersion?: string;
  propagation?: 'Background' | 'Foreground' | 'Orphan';
}
export interface RawOptions extends RequestOptions {
  body?: string;
  query?: Record<string, string>;
  contentType?: string;
  accept?: string;
}

const partial = `${json};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
const partialList = `${json};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;
const patchTypes = { json: 'application/json-patch+json', merge: 'application/merge-patch+json' };
const applyType = 'application/apply-patch+yaml';

/** Talks to one API server. */
export class Client {
  readonly #line: Line;
  readonly #transport: Transport;

  constructor({ cluster, clock, fence, onRequest, userAgent = 'baton' }: ClientOptions) {
    this.#transport = new Transport(cluster, clock, userAgent);
    this.#line = { transport: this.#transport, fence, onRequest };
  }

  /** One object; a missing one is an ApiError with status 404. */
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: RequestOptions): Promise<T> {
    const asked = { verb: 'get', method: 'GET', path: objectPath(kind, ref) } as const;
    return this.#object<T>(new KindRequest(kind, ref, asked), options);
  }

  /** One page of objects. */
  list<T extends KubeObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    query: Record<string, string>,
    options?: ReadOptions,
  ): Promise<ListPage<T>> {
    return ask(this.#line, listing(kind, namespace, query, options), options, (answer) => pageIn(kind, answer));
  }

  /** One page as the text that came, for whoever parses it piece by piece. */
  listText(
    kind: Kind,
    namespace: string | undefined,
    query: Record<string, string>,
    options?: ReadOptions,
  ): Promise<string> {
    return ask(this.#line, listing(kind, namespace, query, options), options, ({ text }) => text);
  }

  /** Makes an object that must not exist yet. */
  create<T extends KubeObject>(kind: Kind<T>, object: T, options: CreateOptions): Promise<T> {
    const { namespace } = object.metadata;
    if (kind.namespaced && namespace === undefined) throw new TypeError(`${kind.kind}: the namespace is missing`);
    const trial = options.dryRun ? '&dryRun=All' : '';
    const path = collectionPath(kind, namespace) + managedBy(options.manager) + trial;
    const asked = { verb: 'create', method: 'POST', path, body: object } as const;
    return this.#object<T>(new KindRequest(kind, object.metadata, asked), options);
  }

  /** Server-side apply: these fields are ours, in this shape. */
  apply<T extends KubeObject>(kind: Kind<T>, object: KubeObject, options: ApplyOptions): Promise<T> {
    const { manager, subresource, force = true } = options;
    const path = `${objectPath(kind, object.metadata, subresource)}${managedBy(manager)}&force=${force}`;
    const asked = { verb: 'apply', method: 'PATCH', path, body: object, contentType: applyType } as const;
    return this.#object<T>(new KindRequest(kind, object.metadata, asked), options);
  }

  /** Replaces an object; with its resourceVersion only if nobody else did. */
  update<T extends KubeObject>(kind: Kind<T>, object: T, options: UpdateOptions = {}): Promise<T> {
    const path = objectPath(kind, object.metadata, options.subresource) + managedBy(options.manager);
    const asked = { verb: 'update', method: 'PUT', path, body: object } as const;
    return this.#object<T>(new KindRequest(kind, object.metadata, asked), options);
  }

  /** A JSON patch or a merge patch. */
  patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, body: unknown, options: PatchOptions): Promise<T> {
    const path = objectPath(kind, ref, options.subresource) + managedBy(options.manager);
    const asked = { verb: 'patch', method: 'PATCH', path, body, contentType: patchTypes[options.type] } as const;
    return this.#object<T>(new KindRequest(kind, ref, asked), options);
  }

  /** Deletes what has this UID and resourceVersion. Gives the object while it is still leaving, nothing once it is gone. */
  delete(kind: Kind, ref: Ref, options: DeleteOptions = {}): Promise<KubeObject | undefined> {
    const { uid, resourceVersion, propagation } = options;
    const preconditions = { uid, resourceVersion };
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy: propagation };
    const asked = { verb: 'delete', method: 'DELETE', path: objectPath(kind, ref), body } as const;
    return ask(this.#line, new KindRequest(kind, ref, asked), options, leavingIn);
  }

  /** Follows changes line by line. Resolves when the server ends the watch; every other end is an error. */
  watch(
    kind: Kind,
    namespace: string | undefined,
    query: Record<string, string>,
    handler: WatchHandler,
    { signal, metadataOnly }: { signal: AbortSignal; metadataOnly?: boolean },
  ): Promise<void> {
    const path = collectionPath(kind, namespace) + queryOf({ ...query, watch: 'true' });
    const asked = { verb: 'watch', method: 'GET', path, accept: metadataOnly ? partial : json } as const;
    return follow(this.#line, new KindRequest(kind, { namespace }, asked), handler, signal);
  }

  /** Any other question: logs, reviews, discovery. The answer comes as text; an error status is an ApiError. */
  raw(method: Method, path: string, options: RawOptions = {}): Promise<{ status: number; text: string }> {
    const { body, query = {}, contentType = json, accept = json } = options;
    const asked = rawRequest({ method, path, search: queryOf(query), body, contentType, accept });
    return ask(this.#line, asked, options, ({ status, text }) => ({ status, text }));
  }

  /** Ends everything: open watches and requests fail, connections close. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  #object<T>(asked: Request, options: RequestOptions | undefined): Promise<T> {
    return ask(this.#line, asked, options, objectIn as (answer: Answer) => T);
  }
}

function listing(kind: Kind, namespace: string | undefined, query: Record<string, string>, options?: ReadOptions) {
  const path = collectionPath(kind, namespace) + queryOf(query);
  const accept = options?.metadataOnly ? partialList : json;
  return new KindRequest(kind, { namespace }, { verb: 'list', method: 'GET', path, accept });
}

const managedBy = (manager: string | undefined): string =>
  manager === undefined ? '' : `?fieldManager=${encodeURIComponent(manager)}`;

const objectIn = ({ text }: Answer): unknown => JSON.parse(text);

/** The items of a list say neither apiVersion nor kind; an object everywhere else does, so they get them. */
function pageIn<T extends KubeObject>({ apiVersion, kind }: Kind<T>, { text }: Answer): ListPage<T> {
  const { metadata, items } = JSON.parse(text) as {
    metadata: { resourceVersion?: string; continue?: string };
    items: T[] | null;
  };
  return {
    items: (items ?? []).map((item) => ({ ...item, apiVersion, kind })),
    resourceVersion: metadata.resourceVersion ?? '',
    ...(metadata.continue ? { continue: metadata.continue } : {}),
  };
}

function leavingIn({ text }: Answer): KubeObject | undefined {
  const answer = JSON.parse(text) as KubeObject;
  return answer.kind === 'Status' && answer.apiVersion === 'v1' ? undefined : answer;
}
