// What a controller may wish for. A fault in its code is found before anything is written, and told as such: a wish that
// only the server refuses, or two that fight each other, would be met in the middle of a pass, again and again.

import type { KubeObject } from '../objects/index.ts';
import { nameOf, type Owner } from './child.ts';
import type { Desired } from './define.ts';
import { Refusal } from './refusal.ts';

/** Throws for a child without a name, in another namespace, or wished for twice. */
export function checkWishes(want: readonly Desired[], { object, labelKind }: Owner): void {
  const seen = new Set<string>();
  for (const desired of want) {
    const child = childIn(desired);
    const { name, namespace } = child.metadata;
    if (!name) throw fault(`${labelKind} wants a ${child.kind} without a name`);
    const elsewhere = namespace !== undefined && namespace !== object.metadata.namespace;
    if (elsewhere) throw fault(`${labelKind} wants ${nameOf(child)} in namespace ${namespace}, which is not its own`);
    if ('note' in desired) continue;
    if (seen.has(idOf(child))) throw fault(`${labelKind} wants ${nameOf(child)} twice`);
    seen.add(idOf(child));
  }
}

/** All notes of one child as one, at the place of the first: each apply of notes replaces those before it. */
export function joinNotes(want: readonly Desired[]): Desired[] {
  const joined = new Map<string, Extract<Desired, { note: KubeObject }>>();
  return want.flatMap((desired): Desired[] => {
    if (!('note' in desired)) return [desired];
    const first = joined.get(idOf(desired.note));
    if (first) Object.assign(first.annotations, desired.annotations);
    if (first) return [];
    const own = { ...desired, annotations: { ...desired.annotations } };
    joined.set(idOf(desired.note), own);
    return [own];
  });
}

/** The child that a wish is about. */
export function childIn(desired: Desired): KubeObject {
  if ('create' in desired) return desired.create;
  if ('apply' in desired) return desired.apply;
  return 'keep' in desired ? desired.keep : desired.note;
}

const idOf = ({ apiVersion, kind, metadata }: KubeObject): string => `${apiVersion}|${kind}|${metadata.name}`;
const fault = (message: string): Refusal => new Refusal('InternalError', message);
