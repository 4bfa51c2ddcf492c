// The shape of a structural schema, the dialect of OpenAPI that a CustomResourceDefinition speaks, and the place where a
// walk through a schema stands. A walk does not stop at the first fault: it reports each with its path and goes on, so
// that an author sees all of them at once.

import type { z } from 'zod';

/** A CEL rule: an expression about `self`, and the words for the person whose object breaks it. */
export interface CelRule {
  rule: string;
  message: string;
  messageExpression?: string;
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

export type ScalarType = 'string' | 'integer' | 'number' | 'boolean';

/** Checks on a value that say nothing about its shape; only these may stand below oneOf, allOf and not. */
export interface ValueChecks {
  type?: ScalarType;
  enum?: unknown[];
  pattern?: string;
  required?: string[];
  properties?: Record<string, ValueChecks>;
  anyOf?: ValueChecks[];
  not?: ValueChecks;
}

/** One node of a structural schema. */
export interface Structural {
  type?: ScalarType | 'object' | 'array';
  description?: string;
  default?: unknown;
  nullable?: true;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: true;
  exclusiveMaximum?: true;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  properties?: Record<string, Structural>;
  required?: string[];
  additionalProperties?: Structural;
  items?: Structural;
  allOf?: ValueChecks[];
  anyOf?: ValueChecks[];
  oneOf?: ValueChecks[];
  'x-kubernetes-validations'?: CelRule[];
  'x-kubernetes-int-or-string'?: true;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-preserve-unknown-fields'?: true;
}

/** Where a walk stands: the path for people, and the schemas that it came through. */
export interface Place {
  readonly path: string;
  /** Whether this is the value of a field; only there may a default or an optional stand. */
  readonly isField: boolean;
  readonly above: readonly z.core.$ZodType[];
  readonly problems: string[];
}

/** The place from which a walk starts. */
export const placeOf = (path: string, problems: string[]): Place => ({ path, isField: true, above: [], problems });

/** A place one step further down. */
export const below = (place: Place, step: string, isField = false): Place => ({
  ...place,
  path: `${place.path}${step}`,
  isField,
});

/** Reports a fault at a place. */
export const refuse = ({ path, problems }: Place, why: string): void => {
  problems.push(`${path}: ${why}`);
};
