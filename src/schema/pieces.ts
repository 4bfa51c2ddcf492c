// The usual pieces of a schema. What zod has no word for (list types, sizes of maps, CEL rules) rides in `.meta()`, so a
// piece stays an ordinary zod schema: it can be described, made optional and given a default like any other.

import * as z from 'zod';
import type { CelRule } from './structural.ts';

/** A DNS label: the name of a port, of a container, of most parts. */
export const dnsLabel = () =>
  z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

/** A DNS subdomain: the name of most objects. */
export const objectName = () =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);

/** A whole number, or a string such as a port's name or a percentage. */
export const intOrString = (int: z.ZodInt, string: z.ZodString) => z.union([int, string]);

/** A Kubernetes quantity that is not negative, such as `500m`, `2Gi` or `3`. */
export const quantity = () =>
  intOrString(
    z.int().min(0).max(Number.MAX_SAFE_INTEGER),
    z
      .string()
      .max(32)
      .regex(/^[0-9]+(\.[0-9]*)?([eE][0-9]+|m|u|n|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/),
  );

/** A list whose items are told apart by one field, so that several writers can each own their items. */
export const listMap = <Item extends z.ZodType>(key: string, item: Item, max: number) =>
  z
    .array(item)
    .max(max)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] });

/** A list without duplicates whose order means nothing. */
export const setOf = <Item extends z.ZodType>(item: Item, max: number) =>
  z.array(item).max(max).meta({ 'x-kubernetes-list-type': 'set' });

/** A map with at most `max` keys of at most `keyLength` characters. */
export const mapOf = <Value extends z.ZodType>(value: Value, { max, keyLength }: { max: number; keyLength: number }) =>
  z.record(z.string().min(1).max(keyLength), value).meta({ maxProperties: max });

/** The value of a label. */
export const labelText = () =>
  z
    .string()
    .max(63)
    .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/);

/** Labels, those of an object or those that one must have. */
export const labelMap = (max: number) =>
  withRules(mapOf(labelText(), { max, keyLength: 316 }), {
    rule: 'self.all(key, !format.qualifiedName().validate(key).hasValue())',
    message: 'must have labels as keys, such as team or example.com/team',
  });

/** Annotations; capital letters before the slash of a key are taken, as Kubernetes does. */
export const annotationMap = (max: number) =>
  withRules(mapOf(z.string().max(16384), { max, keyLength: 316 }), {
    rule: 'self.all(key, !format.qualifiedName().validate(key.lowerAscii()).hasValue())',
    message: 'must have names of annotations as keys, such as note or example.com/note',
  });

/** An object whose content is not ours to check, such as values for a chart. */
export const opaque = () => z.looseObject({}).meta({ 'x-kubernetes-preserve-unknown-fields': true });

/** The schema with CEL rules, beside those that it already has. */
export function withRules<Schema extends z.ZodType>(schema: Schema, ...rules: CelRule[]): Schema {
  const former = (schema.meta()?.['x-kubernetes-validations'] ?? []) as CelRule[];
  return schema.meta({ 'x-kubernetes-validations': [...former, ...rules] });
}

/** A value that is never changed. An optional field can still be added or taken away: forbid that by a rule above it. */
export const immutable = <Schema extends z.ZodType>(schema: Schema): Schema =>
  withRules(schema, { rule: 'self == oldSelf', message: 'is immutable' });

const generation = () => z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

const condition = z.object({
  type: z
    .string()
    .min(1)
    .max(316)
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$/)
    .describe('What the condition is about.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .describe('Why, in one word for programs.'),
  message: z.string().max(32768).describe('Why, in a sentence for people.'),
  observedGeneration: generation().describe('The generation of the object that this was said about.'),
  lastTransitionTime: z.iso.datetime().optional().describe('When the status last changed.'),
});

/** The conditions of an object, one of each type. */
export const conditions = () => listMap('type', condition, 32).describe('What is true of the object.');

/** What every status begins with; `.extend()` adds the kind's own fields. */
export const commonStatus = z.object({
  observedGeneration: generation().describe('The generation of the object that this status was made for.'),
  phase: z.string().max(64).optional().describe('Where the object stands, in one word.'),
  message: z.string().max(32768).optional().describe('Where the object stands, in a sentence.'),
  conditions: conditions().optional(),
});
