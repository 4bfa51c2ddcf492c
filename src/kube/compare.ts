// Is all that we want already there? Asked of a child whose hash says that exactly this was written before, so only
// drift and what the server makes of our words matter: defaults that it adds, quantities that it rewrites, empty values
// that it drops, and entries that other managers add to maps and keyed lists are no difference.

import { sameAmount, sameQuantity } from '../objects/index.ts';

/** The path of the first wanted field that is missing or different, or undefined when all is there. */
export const difference = (wanted: unknown, held: unknown): string | undefined => compare(wanted, held, [], '');

function compare(wanted: unknown, held: unknown, path: readonly string[], at: string): string | undefined {
  if (held === undefined || held === null) return dropped(wanted, path) ? undefined : at;
  if (Array.isArray(wanted)) return Array.isArray(held) ? compareLists(wanted, held, path, at) : at;
  if (isMap(wanted)) return isMap(held) ? compareMaps(wanted, held, path, at) : at;
  return wanted === held || isSameQuantity(wanted, held, path) ? undefined : at;
}

function compareMaps(wanted: JsonMap, held: JsonMap, path: readonly string[], at: string): string | undefined {
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const found = compare(value, held[key], [...path, key], at === '' ? key : `${at}.${key}`);
    if (found !== undefined) return found;
  }
  const extra = isAtomicMap(path) && Object.keys(held).find((key) => !(key in wanted));
  return extra ? `${at}.${extra}` : undefined;
}

function compareLists(wanted: unknown[], held: unknown[], path: readonly string[], at: string): string | undefined {
  const keys = wanted.length > 0 ? listKeys(path, wanted) : undefined;
  if (keys) return compareKeyed(wanted as JsonMap[], held as JsonMap[], { keys, path, at });
  if (wanted.length !== held.length) return wanted.length === 0 && isKeyedElsewhere(path) ? undefined : at;
  for (const [index, item] of wanted.entries()) {
    const found = compare(item, held[index], path, `${at}[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Every wanted item is there under its key, in the wanted order; items of others may stand between. */
function compareKeyed(
  wanted: JsonMap[],
  held: JsonMap[],
  list: { keys: readonly string[]; path: readonly string[]; at: string },
): string | undefined {
  let from = 0;
  for (const item of wanted) {
    const name = list.keys
      .map((key) => (key in item ? JSON.stringify(item[key]) : ''))
      .join('/')
      .replaceAll('"', '');
    const at = `${list.at}[${name}]`;
    const matches = (other: unknown) => isMap(other) && list.keys.every((key) => sameKey(key, item[key], other[key]));
    const index = held.findIndex((other, position) => position >= from && matches(other));
    if (index < 0) return at;
    from = index + 1;
    const found = compare(item, held[index], list.path, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A protocol that is left out is TCP to the server. */
const sameKey = (key: string, wanted: unknown, held: unknown): boolean =>
  wanted === held || (key === 'protocol' && (wanted ?? 'TCP') === held);

const keysOfLists: Record<string, readonly (readonly string[])[]> = {
  containers: [['name']],
  initContainers: [['name']],
  ephemeralContainers: [['name']],
  env: [['name']],
  volumes: [['name']],
  imagePullSecrets: [['name']],
  resourceClaims: [['name']],
  volumeMounts: [['mountPath']],
  volumeDevices: [['devicePath']],
  hostAliases: [['ip']],
  topologySpreadConstraints: [['topologyKey', 'whenUnsatisfiable']],
  ports: [
    ['containerPort', 'protocol'],
    ['port', 'protocol'],
  ],
  conditions: [['type']],
  ownerReferences: [['uid']],
};

/** The keys by which the server merges a list, or undefined for a list that is one value. */
function listKeys(path: readonly string[], items: unknown[]): readonly string[] | undefined {
  const candidates = keysOfLists[path.at(-1) ?? ''];
  return candidates?.find(([first = '']) => items.every((item) => isMap(item) && first in item));
}

const isKeyedElsewhere = (path: readonly string[]): boolean => (path.at(-1) ?? '') in keysOfLists;

/** Maps that the server treats as one value: an entry more is a change of ours. */
function isAtomicMap(path: readonly string[]): boolean {
  const name = path.at(-1);
  return name === 'nodeSelector' || name === 'selector' || (name === 'matchLabels' && path.at(-2) === 'selector');
}

const quantityMaps = new Set([
  'limits',
  'requests',
  'capacity',
  'hard',
  'overhead',
  'default',
  'defaultRequest',
  'min',
  'max',
]);
const quantityFields = new Set(['sizeLimit', 'divisor', 'averageValue']);

function isSameQuantity(wanted: unknown, held: unknown, path: readonly string[]): boolean {
  const isText = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  if (!isText(wanted) || !isText(held)) return false;
  if (quantityMaps.has(path.at(-2) ?? '')) return sameAmount(wanted, held);
  return quantityFields.has(path.at(-1) ?? '') && sameQuantity(wanted, held);
}

/** Fields that the server keeps without a pointer: their zero value is not stored. */
const zeroIsDropped = new Set([
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'stdin',
  'stdinOnce',
  'tty',
  'readOnly',
  'paused',
  'publishNotReadyAddresses',
  'minReadySeconds',
  'initialDelaySeconds',
  'controller',
  'nodePort',
  'weight',
]);

/** Whether a wanted value that the held object lacks is one that the server drops. */
function dropped(wanted: unknown, path: readonly string[]): boolean {
  if (wanted === undefined || wanted === null || wanted === '') return true;
  if (wanted === false || wanted === 0) return zeroIsDropped.has(path.at(-1) ?? '');
  if (Array.isArray(wanted)) return wanted.length === 0;
  return isMap(wanted) && Object.values(wanted).every((value) => dropped(value, path));
}

type JsonMap = Record<string, unknown>;

const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
