// The vocabulary in which a controller is written: what it watches, what it decides, and the words for what should
// exist. Nothing here does anything; a definition is data, from which come the watches, the RBAC rules and the tests.

import type { CommonStatus, Kind, KubeObject, ShapeOf } from '../objects/index.ts';

/** A parent as the engine sees it: the kind's own spec, and a status that starts with the common words. */
export type Parent = KubeObject & { spec?: unknown; status?: CommonStatus };

/** What should be true of one child after a pass. A child that is not mentioned is deleted. */
export type Desired = (
  | { create: KubeObject }
  | { apply: KubeObject }
  | { keep: KubeObject }
  | { note: KubeObject; annotations: Record<string, string> }
) & { apart?: string };

/** Made if missing, then left alone. */
export const create = (child: KubeObject): Desired => ({ create: child });
/** Kept as wanted, field by field; fields of other managers are not touched. */
export const apply = (child: KubeObject): Desired => ({ apply: child });
/** Mine and wanted; nothing of it is written but the marks by which it is found, and by which it goes or stays with its parent. */
export const keep = (child: KubeObject): Desired => ({ keep: child });
/** Remembered as annotations on an own child, beside whatever else is wanted of it. What is not noted again is forgotten. */
export const note = (child: KubeObject, annotations: Record<string, string>): Desired => ({ note: child, annotations });
/** Wanted, but no part of Ready: a refusal of it is told in this condition alone, and holds nothing else up. */
export const apart = (condition: string, desired: Desired): Desired => ({ ...desired, apart: condition });

/** The world of one object, from the cache. Asking costs no request. */
export interface Observed {
  /** An own child by name. */
  get<T extends KubeObject>(kind: Kind<T>, name: string): T | undefined;
  /** All own children of these kinds. */
  all<K extends readonly Kind[]>(...kinds: K): readonly ShapeOf<K[number]>[];
  /** Whether there is such a kind in this cluster; only one of `mayLack` can be missing. */
  serves(kind: Kind): boolean;
  /** Objects that carry our labels without being owned directly, as pods do. */
  labelled<T extends KubeObject>(kind: Kind<T>): readonly T[];
  /** Somebody else's object in the same namespace. Reading subscribes: a change of it wakes this object. */
  read<T extends KubeObject>(kind: Kind<T>, name: string): T | undefined;
  /**
   * What a view makes of each object of a kind outside namespaces, in the order of their names, without those of which it
   * makes nothing; undefined where they cannot be seen. Wakes this object when a view changes, and by no other change of them.
   */
  each<T extends KubeObject, V>(kind: Kind<T>, view: (object: T) => V | undefined): readonly V[] | undefined;
}

/** A fact from outside the cache, as far as it is known. `lasting`: it failed so often that a person should hear of it. */
export type Known<V> =
  | { state: 'unneeded' }
  | { state: 'pending' }
  | { state: 'known'; value: V }
  | { state: 'failed'; why: string; lasting?: true };

/** Reads that a fact may do beside the cache; each needs its rule in `needs`. */
export interface Reader {
  get<T extends KubeObject>(kind: Kind<T>, namespace: string, name: string): Promise<T | undefined>;
  list<T extends KubeObject>(kind: Kind<T>, namespace: string, query?: Record<string, string>): Promise<T[]>;
  podLog(namespace: string, pod: string, query?: Record<string, string>): Promise<string>;
  /** What the API server would store if this were created, which it is not; undefined for what is refused. */
  dryRun<T extends KubeObject>(kind: Kind<T>, object: T): Promise<T | undefined>;
}

/** What a fact or a cleanup works with. `clients` are handed in by whoever runs the controller. */
export interface Tools<C> {
  kube: Reader;
  clients: C;
  signal: AbortSignal;
}

/** One permission. The core group is the empty string. */
export interface Rule {
  group: string;
  resource: string;
  verbs: readonly string[];
  /** What no Role in a namespace can grant: with Roles only it is not asked for, and a fact must do without. */
  scope?: 'cluster';
}

/** One fact that `gather` brings in: when it is needed, for how long it stays fresh, how it is fetched. */
export interface Fact<P, I, V, C> {
  /** What the fact depends on; undefined while it is not needed. A change of inputs makes the old value void. */
  inputs(object: P, seen: Observed): I | undefined;
  /** Milliseconds for which it must have been needed before it is first asked for: most waiting is over by itself. */
  after?: number;
  /** Milliseconds after which it is fetched again while it is needed; Infinity for a fact that cannot change. */
  freshFor: number;
  /** A value that stays the same is fetched again after a twentieth of the time that it has, up to so many milliseconds. */
  slowsTo?: number;
  /** Whether this value is the last one: it is not fetched again. */
  isFinal?(value: V): boolean;
  /** At most so many fetches a second for all objects together; no limit if left out. */
  perSecond?: number;
  /** The part of the time in which fetches may run, all objects together: the dearer an answer, the seldomer it is asked. */
  share?: number;
  needs?: readonly Rule[];
  fetch(inputs: I, tools: Tools<C>): Promise<V>;
}

export type Facts<F> = { readonly [K in keyof F]: Known<F[K]> };

export interface Pass<P extends Parent, F = Record<string, unknown>> {
  object: P;
  seen: Observed;
  facts: Facts<F>;
  now: number;
}

export interface Decision<S extends CommonStatus> {
  want: Desired[];
  status: S;
  /** Milliseconds after which to look again if nothing happens before. */
  again?: number;
}

/** Undoing of effects outside the cluster, behind a finalizer. It is called again until it says that it is done. */
export interface Cleanup<P, C> {
  finalizer: string;
  needs?: readonly Rule[];
  run(object: P, tools: Tools<C>): Promise<'done' | { again: number }>;
}

export interface ControllerDefinition<
  P extends Parent = Parent,
  S extends CommonStatus = CommonStatus,
  F = Record<string, unknown>,
  C = object,
> {
  kind: Kind<P>;
  /** The same kind under another apiVersion or name; the same controller runs on both. */
  aliases?: readonly Kind<P>[];
  /** Condition types that this controller sets, beside Ready, Reconciling and Stalled. */
  conditions?: readonly string[];
  /** The phase of an object for which something was refused for good; for kinds that have phases. */
  failedPhase?: string;
  /** The phase of an object that is being deleted; for kinds that have a word for that. */
  leavingPhase?: string;
  owns: readonly Kind[];
  /** Kinds of `owns` that a cluster need not serve, and the milliseconds within which one that comes is noticed. */
  mayLack?: readonly { kind: Kind; noticedWithin: number }[];
  /** Kinds found by our labels on objects that our children made, as pods are. */
  labelled?: readonly Kind[];
  /** Kinds of other owners that `seen.read` and `seen.each` may ask for. */
  reads?: readonly Kind[];
  gather?: { readonly [K in keyof F]: Fact<P, unknown, F[K], C> };
  decide(pass: Pass<P, F>): Decision<S>;
  cleanup?: Cleanup<P, C>;
}

/** Checks what the compiler cannot, and hands the definition back. */
export function defineController<P extends Parent, S extends CommonStatus, F = Record<string, unknown>, C = object>(
  definition: ControllerDefinition<P, S, F, C>,
): ControllerDefinition<P, S, F, C> {
  const secret = definition.reads?.find(({ kind, apiVersion }) => kind === 'Secret' && apiVersion === 'v1');
  if (secret)
    throw new TypeError(
      `${definition.kind.kind}: Secrets are never watched; mount the Secret into a pod instead of reading it`,
    );
  return definition;
}

/** Thrown by `decide`: there is no point in trying again before the object changes. */
export class Terminal extends Error {
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.name = 'Terminal';
    this.reason = reason;
  }
}
