// The oracles that need no second life: whether Ready is honest at every moment, whether one that is not Ready says why, and whether
// what a person changed shows somewhere. Pure, so that they can be proven on made-up worlds.

import type { Parent } from '../../src/kube/define.ts';
import { conditionOf, isOfKind, type KubeObject, quantityOf } from '../../src/objects/index.ts';
import { saysReady } from '../kit/oracle.ts';
import type { Revision, World } from '../kit/subject.ts';
import { idOf, versionOf, worldOf } from '../kit/truth.ts';
import type { Meanings, Trail } from './meaning.ts';
import { type Json, type Property, valuesAt } from './property.ts';
import { flat } from './state.ts';

/** What an oracle says. */
export interface Alarm {
  oracle:
    | 'rest'
    | 'honesty'
    | 'consistency'
    | 'differential'
    | 'rollback'
    | 'stillness'
    | 'deletion'
    | 'refusal'
    | 'operator';
  words: string[];
}

/** An alarm, if there is something to say. */
export const alarmOf = (oracle: Alarm['oracle'], words: readonly string[]): Alarm[] =>
  words.length === 0 ? [] : [{ oracle, words: [...new Set(words)] }];

/**
 * Every moment in which Ready was told of an object that was not, in the order of the versions. An edit of annotations leaves the
 * generation as it is, and a status that stands there from before: only what is told anew counts.
 */
export function lies(before: readonly KubeObject[], history: readonly Revision[], table: Meanings): string[] {
  const existing = new Map<string, Parent>(before.map((object) => [idOf(object), object]));
  const now = worldOf(existing);
  return history
    .toSorted((a, b) => versionOf(a.object) - versionOf(b.object))
    .flatMap(({ type, object }) => {
      const former = existing.get(idOf(object));
      if (type === 'DELETED') existing.delete(idOf(object));
      else existing.set(idOf(object), object);
      if (type === 'DELETED' || !isOfKind(object, table.kind) || !saysReady(object)) return [];
      if (same(former?.status, object.status)) return [];
      return table.lacks(object, now).map((lack) => `it was Ready, but ${lack}`);
    });
}

/** What an object at rest owes to whoever reads it: that it is Ready, or what keeps it. */
export function silence(parent: Parent, table: Meanings, now: World): string[] {
  const { status } = parent;
  if (saysReady(parent)) return table.lacks(parent, now).map((lack) => `it says Ready, but ${lack}`);
  const [stalled, reconciling, ready] = ['Stalled', 'Reconciling', 'Ready'].map((type) => conditionOf(status, type));
  if (!ready) return ['it has no condition Ready'];
  if (ready.observedGeneration !== parent.metadata.generation) return ['Ready is not about this generation'];
  if (stalled?.status === 'True') return stalled.message.trim() === '' ? ['it is Stalled and does not say why'] : [];
  if (reconciling?.status !== 'True') return ['it is neither Ready nor Stalled nor Reconciling'];
  return ready.reason === status?.phase ? [`it rests, says ${ready.reason} and names no cause`] : [];
}

/** What was changed and does not show. Only what is Ready has done as it was told. */
export function hidden(
  { before, trail }: { before: Parent | undefined; trail: Trail },
  properties: readonly Property[],
  table: Meanings,
): string[] {
  const { parent } = trail;
  if (!saysReady(parent)) return [];
  return properties.filter(isLeaf).flatMap((property) => {
    const [former, asked] = [before, parent].map((one) => valuesAt(one, property.steps));
    const news = (asked ?? []).filter((value) => !former?.some((old) => same(old, value)));
    const gone = (former?.length ?? 0) > 0 && asked?.length === 0;
    const changed = gone ? [undefined] : news;
    return changed
      .filter((value) => !isShown(property, value, trail, table))
      .map((value) => `${property.path} = ${wordFor(value)} shows nowhere`);
  });
}

const wordFor = (value: Json): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200));

const isLeaf = ({ node }: Property): boolean => !node.properties && !node.items && !node.additionalProperties;

const same = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b);

function isShown({ path }: Property, value: Json, trail: Trail, table: Meanings): boolean {
  const declared = table.shows[path];
  if (declared) return declared(value, trail);
  if (value === undefined || value === '' || value === false) return true;
  const bearers = table.bearers(path);
  const kinds = new Set((bearers.length > 0 ? bearers : table.children).map(({ kind }) => kind));
  const last = trail.seen.filter(({ kind }) => kinds.has(kind));
  return last.some((object) => flat(object).some(([, leaf]) => carries(JSON.parse(leaf) as Json, value)));
}

/** Whether a field of a child is what was asked: as it is, behind a flag, or as the same quantity. */
function carries(leaf: Json, value: Json): boolean {
  if (same(leaf, value) || String(leaf) === String(value)) return true;
  if (typeof leaf === 'string' && leaf.startsWith('--') && leaf.endsWith(`=${String(value)}`)) return true;
  if (typeof value === 'string' && value.includes('{model}')) return true;
  const [one, other] = [leaf, value].map((side) =>
    typeof side === 'string' || typeof side === 'number' ? thousandths(side) : undefined,
  );
  return one !== undefined && one === other;
}

/** What a pod may have less than a thousandth of is rounded up by the API server. */
function thousandths(text: string | number): bigint | undefined {
  const billionths = quantityOf(text);
  return billionths === undefined ? undefined : (billionths + 999_999n) / 1_000_000n;
}
