// One schema a kind. From it come the TypeScript type of the object, the kind by which controllers ask for it, and the
// CustomResourceDefinition (crd.ts). The API server applies the defaults, so an observed object has the output type of
// the schema; a person writes the input type.

import type { z } from 'zod';
import type { CommonStatus, Kind, KubeObject, ObjectMeta } from '../objects/index.ts';

/** A column of `kubectl get`; `path` is a JSONPath from the root, such as `.spec.replicas`. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  path: string;
  /** 0, or nothing: always shown; 1: only with `-o wide`. */
  priority?: 0 | 1;
  description?: string;
}

/** Where the scale subresource finds the numbers. */
export interface Scale {
  specPath: string;
  statusPath: string;
  selectorPath?: string;
}

/** The names under which a kind is served. */
export interface KindNames {
  group: string;
  version: string;
  kind: string;
  plural: string;
  shortNames?: readonly string[];
  categories?: readonly string[];
}

export interface KindDefinition<
  Spec extends z.ZodType = z.ZodType,
  Status extends z.ZodType<Loose<CommonStatus>> = z.ZodType<Loose<CommonStatus>>,
> extends KindNames {
  /** What the kind is for, as `kubectl explain` shows it. */
  description: string;
  spec: Spec;
  status: Status;
  columns?: readonly Column[];
  scale?: Scale;
  /** Characters that a name may have at most. */
  longestName?: number;
  /** Condition types beside Ready, Reconciling and Stalled; they are named in the description of `conditions`. */
  conditions?: readonly string[];
}

/** A kind that knows the definition it came from. */
export interface DefinedKind<
  Spec extends z.ZodType = z.ZodType,
  Status extends z.ZodType<Loose<CommonStatus>> = z.ZodType<Loose<CommonStatus>>,
> extends Kind<Observed<Spec, Status>> {
  readonly definition: KindDefinition<Spec, Status>;
}

/** An object of the kind as it is observed: with defaults, and as JSON, where a member is there or not. */
type Observed<Spec extends z.ZodType, Status extends z.ZodType> = KubeObject & {
  spec: Json<z.output<Spec>>;
  status?: Json<z.output<Status>>;
};

/** The object of a kind, as a controller sees it. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;
/** The status of a kind, as a controller writes it. */
export type StatusOf<K> = K extends DefinedKind<z.ZodType, infer S> ? Json<z.output<S>> : never;
/** The object of a kind, as a person writes it: what has a default may be left out. */
export type AskedOf<K> =
  K extends DefinedKind<infer Spec> ? { metadata: Partial<ObjectMeta>; spec: Json<z.input<Spec>> } : never;

/** JSON knows no undefined: an optional member is absent. */
export type Json<T> = T extends readonly (infer E)[]
  ? Json<E>[]
  : T extends object
    ? { [K in keyof T]: Json<Exclude<T[K], undefined>> }
    : T;

/** The opposite, for what zod infers: a member may also be undefined. */
type Loose<T> = T extends readonly (infer E)[]
  ? Loose<E>[]
  : T extends object
    ? { [K in keyof T]: Loose<T[K]> | undefined }
    : T;

/** A kind from its schema. Faults of the schema are found by `crdOf`. */
export const defineKind = <Spec extends z.ZodType, Status extends z.ZodType<Loose<CommonStatus>>>(
  definition: KindDefinition<Spec, Status>,
): DefinedKind<Spec, Status> => ({
  apiVersion: `${definition.group}/${definition.version}`,
  kind: definition.kind,
  plural: definition.plural,
  namespaced: true,
  definition,
});

/** The same kind, served under other names. */
export const aliasOf = <Spec extends z.ZodType, Status extends z.ZodType<Loose<CommonStatus>>>(
  { definition: { shortNames: _shortNames, ...definition } }: DefinedKind<Spec, Status>,
  names: KindNames,
): DefinedKind<Spec, Status> => defineKind({ ...definition, ...names });
