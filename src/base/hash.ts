// One short name for one value: the same content gives the same hash, whatever the order of its keys.

import { createHash } from 'node:crypto';

/** JSON with sorted keys; undefined members are left out, as JSON.stringify does. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isPlain(inner) ? sorted(inner) : inner));
}

/** Sixteen hexadecimal digits of SHA-256 over the canonical form. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16);

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const sorted = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
