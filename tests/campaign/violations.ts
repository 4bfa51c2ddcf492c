// Every rule of a schema, broken: types, enumerations, patterns, bounds, what is required, keys that come twice, and the CEL
// rules. Each violation says which field the API server must name, and in which words it complains of this very rule.

import type { CelRule, Structural } from '../../src/schema/index.ts';
import type { Document, Meanings } from './meaning.ts';
import { absent, type Json, placed, type Property } from './property.ts';
import { exampleFrom } from './documents.ts';
import { lengthened, smallest } from './values.ts';

/** A rule of a schema, under the name by which it is counted. */
export interface Rule {
  name: string;
  /** The field that the API server must name. */
  field: string;
  /** Its words for this rule. */
  says: RegExp;
}

/** A document that breaks a rule. */
export interface Violation extends Rule {
  document: Document;
}

/** How one rule is broken: its words, and values that break it. */
interface Breach {
  rule: string;
  says: RegExp;
  values: Json[];
  /** Where the complaint is, below the property. */
  at?: string;
}

const keyOf = 'key';

/** The field as the API server names it in the first item and the first entry. */
export const fieldOf = (steps: readonly string[]): string =>
  steps.reduce((path, step) => {
    if (step === '[]') return `${path}[0]`;
    return `${path}${path && '.'}${step === '{}' ? keyOf : step}`;
  }, '');

/** All rules of these properties, whether or not anybody knows how to break them. */
export const rulesOf = (properties: readonly Property[], table: Meanings): Rule[] => [
  ...properties.flatMap((property) => breachesOf(property).map((breach) => ruleOf(property, breach))),
  ...properties.flatMap(celRules),
  ...longNames(table).map(({ document: _document, ...rule }) => rule),
];

/** A name that is too long for its kind, in an object that is right otherwise. */
function longNames({ kind, bases: [base = { spec: {} }] }: Meanings): Violation[] {
  const { longestName } = kind.definition;
  if (longestName === undefined) return [];
  const rule = { name: 'metadata.name maxLength', field: 'metadata.name', says: /Too long: may not be more than/ };
  return [{ ...rule, document: { ...base, name: 'n'.repeat(longestName + 1) } }];
}

const ruleOf = ({ path, steps }: Property, { rule, says, at = '' }: Breach): Rule => ({
  name: `${path} ${rule}`,
  field: `${fieldOf(steps)}${at}`,
  says,
});

const celRules = ({ node, path, steps }: Property): Rule[] =>
  (node['x-kubernetes-validations'] ?? []).map((rule) => celRule(path, fieldOf(steps), rule));

function celRule(path: string, field: string, { message, fieldPath = '' }: CelRule): Rule {
  const says = new RegExp(message.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return { name: `${path}: ${message}`, field: `${field}${fieldPath}`, says };
}

/** Every violation that can be made of a document. */
export function violationsOf(properties: readonly Property[], table: Meanings, seed: number): Violation[] {
  const [base = { spec: {} }] = table.bases;
  const example = exampleFrom(table, properties, seed);
  const set = (property: Property, value: Json): Document => ({
    ...base,
    spec: keyed(placed(base, property.steps, value, example), property),
  });
  return [
    ...properties.flatMap((property) =>
      breachesOf(property).flatMap((breach) =>
        breach.values.map((value) => ({ ...ruleOf(property, breach), document: set(property, value) })),
      ),
    ),
    ...properties.flatMap(celRules).flatMap((rule) => brokenIn(rule, base, table)),
    ...longNames(table),
  ];
}

/** What was placed is a whole document; an entry of a map goes under the key that the field is expected with. */
function keyed(document: Json, { steps }: Property): Json {
  const { spec } = document as Document;
  const at = steps.indexOf('{}');
  if (at < 0) return spec;
  const rename = (value: Json, [step, ...rest]: readonly string[]): Json => {
    if (step === undefined) return value;
    const fields = value as Record<string, Json>;
    if (step !== '{}') return { ...fields, [step]: rename(fields[step], rest) };
    const [first] = Object.values(fields);
    return { [keyOf]: first };
  };
  return rename(spec, steps.slice(1, at + 1));
}

function brokenIn(rule: Rule, base: Document, { breaks }: Meanings): Violation[] {
  const message = rule.name.slice(rule.name.indexOf(': ') + 2);
  const change = breaks[message] ?? longKey(rule, message);
  return change ? [{ ...rule, document: change(base) }] : [];
}

/** Keys of maps have a length, by a rule that the schema makes of itself. */
function longKey({ field }: Rule, message: string): Meanings['breaks'][string] | undefined {
  const [, most] = /^each key must have 1 to (\d+) characters$/.exec(message) ?? [];
  if (most === undefined) return undefined;
  const key = 'k'.repeat(Number(most) + 1);
  return (document) => placed(document, field.split('.'), { [key]: '1' }, () => ({})) as Document;
}

/** How the checks of a node are broken, one breach a check. */
export function breachesOf({ node, required, path }: Property): Breach[] {
  const missing =
    required && !/[\]}]$/.test(path) ? [{ rule: 'required', says: /Required value/, values: [absent] }] : [];
  return [...missing, ...typeBreach(node), ...stringBreaches(node), ...numberBreaches(node), ...sizeBreaches(node)];
}

function typeBreach(node: Structural): Breach[] {
  if (node['x-kubernetes-int-or-string']) {
    const says = /must be of type|must validate at least one schema|must be a (string|number)|should be/;
    return [{ rule: 'type', says, values: [true, ['1'], {}] }];
  }
  if (!node.type) return [];
  const others: Json[] = ['text', 7, 1.5, true, ['text'], {}];
  const isOfType: Record<NonNullable<Structural['type']>, (value: Json) => boolean> = {
    string: (value) => typeof value === 'string',
    integer: (value) => Number.isInteger(value),
    number: (value) => typeof value === 'number',
    boolean: (value) => typeof value === 'boolean',
    array: Array.isArray,
    object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  };
  const { type } = node;
  const says = type === 'integer' ? /must be of type (integer|int32|int64)/ : new RegExp(`must be of type ${type}`);
  return [{ rule: 'type', says, values: others.filter((value) => !isOfType[type](value)) }];
}

function stringBreaches({ enum: known, pattern, minLength = 0, maxLength }: Structural): Breach[] {
  const off = ['', 'Off', JSON.stringify(known?.[0] ?? '').toUpperCase()].filter((value) => !known?.includes(value));
  const accepts = new RegExp(pattern ?? '', 'u');
  const strange = ['', ' ', '-', 'ü', '\u0000', 'a b', 'a\nb', '//', '10Gb', '-1', 'e\u0301', '..', 'https://a b'];
  const rejected = strange.filter((text) => !accepts.test(text) && text.length >= minLength);
  return [
    ...(known ? [{ rule: 'enum', says: /Unsupported value/, values: off }] : []),
    ...(pattern === undefined ? [] : [{ rule: 'pattern', says: /should match/, values: rejected }]),
    ...(minLength > 0
      ? [{ rule: 'minLength', says: /should be at least \d+ chars long/, values: ['a'.repeat(minLength - 1)] }]
      : []),
    ...(maxLength === undefined
      ? []
      : [{ rule: 'maxLength', says: /Too long: may not be more than/, values: [lengthened('1', maxLength + 1)] }]),
  ];
}

function numberBreaches({ minimum, maximum }: Structural): Breach[] {
  return [
    ...(minimum === undefined
      ? []
      : [{ rule: 'minimum', says: /should be greater than or equal to/, values: [minimum - 1, minimum - 1_000_000] }]),
    ...(maximum === undefined
      ? []
      : [{ rule: 'maximum', says: /should be less than or equal to/, values: beyond(maximum) }]),
  ];
}

/** Beyond what JavaScript can count by one. */
const beyond = (maximum: number): number[] =>
  maximum >= Number.MAX_SAFE_INTEGER ? [2 ** 53, 2 ** 62] : [maximum + 1, maximum * 2 + 7];

function sizeBreaches(node: Structural): Breach[] {
  const { maxItems, maxProperties, items = {}, additionalProperties = {} } = node;
  const [key] = node['x-kubernetes-list-map-keys'] ?? [];
  const item = smallest(items, 1);
  const many = Array.from({ length: (maxItems ?? 0) + 1 }, (_, index) =>
    key === undefined ? item : { ...(item as object), [key]: `${key}${index}` },
  );
  const entries = Array.from({ length: (maxProperties ?? 0) + 1 }, (_, index) => [
    `k${index}`,
    smallest(additionalProperties, 1),
  ]);
  return [
    ...(maxItems === undefined ? [] : [{ rule: 'maxItems', says: /Too many: \d+: must have at most/, values: [many] }]),
    ...(key === undefined ? [] : [{ rule: 'unique', says: /Duplicate value/, values: [[item, item]], at: '[1]' }]),
    ...(maxProperties === undefined
      ? []
      : [{ rule: 'maxProperties', says: /Too many: \d+: must have at most/, values: [Object.fromEntries(entries)] }]),
  ];
}
