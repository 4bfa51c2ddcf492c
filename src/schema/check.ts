// What is asked of a structural schema beyond being one: every field is described and bounded, every rule can be
// evaluated, every list-map has its keys. The bounds are not pedantry: the API server refuses CEL rules over lists and
// strings without an end, and a person's mistake is caught at the door instead of in a child.

import { checkRules } from './rules.ts';
import { below, type Place, refuse, type Structural } from './structural.ts';

/** Limits that come in pairs. */
const pairs = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const;

/** Formats that are short by themselves. */
const shortFormats = new Set(['uuid', 'ipv4', 'ipv6', 'date-time', 'date']);

/** Reports everything that is wrong with a node and what is below it. */
export function check(node: Structural, place: Place, correlated = true): void {
  if (place.isField && !node.description?.trim()) refuse(place, 'has no description');
  for (const bound of missingBounds(node)) refuse(place, `has no ${bound}`);
  checkValues(node, place);
  checkRules(node, place, correlated);
  checkFields(node, place, correlated);
  checkList(node, place, correlated);
  if (node.additionalProperties) check(node.additionalProperties, below(place, '.*'), correlated);
  checkDefault(node, place);
}

/** What the API server takes without a word and then judges otherwise than the author meant. */
function checkValues(node: Structural, place: Place): void {
  if (pairs.some(([least, most]) => Number(node[least]) > Number(node[most])))
    refuse(place, 'has bounds that nothing fits');
  if ([node.minimum, node.maximum].some((bound) => Math.abs(bound ?? 0) > Number.MAX_SAFE_INTEGER))
    refuse(place, 'has a bound beyond 2^53, where the API server overflows');
  if (node.enum && node.nullable) refuse(place, 'is an enum that may be null, and the API server refuses that null');
}

function missingBounds(node: Structural): string[] {
  if (node.enum || node.type === 'boolean') return [];
  if (node['x-kubernetes-int-or-string']) return [...stringBound(node), ...numberBounds(node)];
  if (node.type === 'string') return shortFormats.has(node.format ?? '') ? [] : stringBound(node);
  if (node.type === 'array') return node.maxItems === undefined ? ['maximum number of items'] : [];
  if (node.type === 'integer' || node.type === 'number') return numberBounds(node);
  return node.additionalProperties && node.maxProperties === undefined ? ['maxProperties'] : [];
}

const stringBound = (node: Structural): string[] => (node.maxLength === undefined ? ['maximum length'] : []);

const numberBounds = ({ minimum, maximum }: Structural): string[] => [
  ...(minimum === undefined ? ['minimum'] : []),
  ...(maximum === undefined ? ['maximum'] : []),
];

function checkFields(
  { properties, required, additionalProperties }: Structural,
  place: Place,
  correlated: boolean,
): void {
  if (properties && additionalProperties) refuse(place, 'has both properties and additionalProperties');
  for (const [name, field] of Object.entries(properties ?? {})) {
    const here = below(place, `.${name}`, true);
    if (required?.includes(name) && field.default !== undefined) refuse(here, 'is required and has a default');
    check(field, here, correlated);
  }
}

/** Below a list only a list-map tells which old item belongs to which new one. */
function checkList(node: Structural, place: Place, correlated: boolean): void {
  const listType = node['x-kubernetes-list-type'];
  if (listType && node.type !== 'array') refuse(place, 'has a list type and is no list');
  if (!node.items) return;
  const here = below(place, '[]');
  check(node.items, here, correlated && listType === 'map');
  if (listType === 'map') checkKeys(node.items, node['x-kubernetes-list-map-keys'] ?? [], here);
  if (listType === 'set' && !isScalar(node.items)) refuse(here, 'stands in a set and is not one plain value');
  if (listType && listType !== 'atomic' && node.items.nullable) refuse(here, `stands in a ${listType} and may be null`);
}

function checkKeys({ properties, required }: Structural, keys: string[], place: Place): void {
  if (keys.length === 0) refuse(place, 'stands in a list-map that names no key');
  for (const key of keys) {
    const field = properties?.[key];
    const here = below(place, `.${key}`, true);
    if (!field) refuse(here, 'is a key of the list and does not exist');
    else if (!isScalar(field)) refuse(here, 'is a key of the list and not one plain value');
    else if (field.nullable) refuse(here, 'is a key of the list and may be null');
    else if (!required?.includes(key) && field.default === undefined)
      refuse(here, 'is a key of the list: it must be required or have a default');
  }
}

const isScalar = ({ type, ...node }: Structural): boolean =>
  (type !== undefined && type !== 'object' && type !== 'array') || node['x-kubernetes-int-or-string'] === true;

/** What zod cannot see of a default: the size of a map, and twins in a set or a list-map. */
function checkDefault(node: Structural, place: Place): void {
  const value = node.default;
  if (typeof value !== 'object' || value === null) return;
  const count = Object.keys(value).length;
  if (node.maxProperties !== undefined && count > node.maxProperties) refuse(place, 'its default has too many keys');
  if (node.minProperties !== undefined && count < node.minProperties) refuse(place, 'its default has too few keys');
  const keys = node['x-kubernetes-list-type'] === 'set' ? [] : node['x-kubernetes-list-map-keys'];
  if (Array.isArray(value) && keys && hasTwins(value, keys)) refuse(place, 'its default has the same item twice');
}

function hasTwins(items: unknown[], keys: string[]): boolean {
  const identity = (item: unknown) =>
    JSON.stringify(keys.length === 0 ? item : keys.map((key) => (item as Record<string, unknown>)[key]));
  return new Set(items.map(identity)).size < items.length;
}
