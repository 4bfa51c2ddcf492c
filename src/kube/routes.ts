// Which objects to look at after a change: the object itself, the parent of a child, the parent that labels name, and
// whoever read the object. Only keys leave this place; the pass reads the world afresh.

import { isDeepStrictEqual } from 'node:util';
import { controllerOf, type Kind, type KubeObject, label, sameKind } from '../objects/index.ts';

/** One parent, as the queue knows it. */
export interface Key {
  kind: Kind;
  namespace: string;
  name: string;
}

/** The key as text: unique over kinds, readable in a log. */
export const keyText = ({ kind, namespace, name }: Key): string =>
  `${kind.apiVersion}|${kind.kind}|${namespace}/${name}`;

/** The key behind a text that `keyText` made for one of these kinds. */
export function keyFrom(text: string, kinds: readonly Kind[]): Key {
  const [apiVersion, kindName, path = ''] = text.split('|');
  const kind = kinds.find((one) => one.apiVersion === apiVersion && one.kind === kindName);
  if (!kind) throw new TypeError(`${text} is not a key of this controller`);
  const slash = path.indexOf('/');
  return { kind, namespace: path.slice(0, slash), name: path.slice(slash + 1) };
}

export const keyOfObject = (kind: Kind, { metadata }: KubeObject): Key => ({
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});

/** The parents, among these kinds, that an object belongs to: by its controller, else by its labels. */
export function parentsOf(object: KubeObject, kinds: readonly Kind[]): Key[] {
  const { namespace = '', labels } = object.metadata;
  const owner = controllerOf(object);
  const direct = owner && kinds.find((kind) => kind.kind === owner.kind && kind.apiVersion === owner.apiVersion);
  if (owner && direct) return [{ kind: direct, namespace, name: owner.name }];
  const name = labels?.[label.name];
  if (name === undefined || labels?.[label.kind] !== kinds[0]?.kind) return [];
  // An alias shares the label with its kind, so either may be meant.
  return kinds.map((kind) => ({ kind, namespace, name }));
}

/** What somebody makes of every object of a kind: only where that changes has anything changed for them. */
export interface View {
  kind: Kind;
  of: (object: KubeObject) => unknown;
}

/** Who read what: reading an object subscribes to it until the next pass reads something else. */
export class Subscriptions {
  private readonly readers = new Map<string, Set<string>>();
  private readonly read = new Map<string, Set<string>>();
  private readonly views = new Map<string, readonly View[]>();

  /** Replaces what a key subscribes to. */
  set(key: string, sources: Set<string>, views: readonly View[] = []): void {
    if (views.length > 0) this.views.set(key, views);
    else this.views.delete(key);
    const former = this.read.get(key);
    for (const source of former ?? []) if (!sources.has(source)) this.drop(source, key);
    for (const source of sources) {
      if (!this.readers.has(source)) this.readers.set(source, new Set());
      this.readers.get(source)?.add(key);
    }
    if (sources.size > 0) this.read.set(key, sources);
    else this.read.delete(key);
  }

  readersOf(source: string): Iterable<string> {
    return this.readers.get(source) ?? [];
  }

  /** Those to whom an object of a kind looks otherwise than before, came or went. */
  viewersOf(kind: Kind, before: KubeObject | undefined, after: KubeObject | undefined): string[] {
    const differs = ({ kind: viewed, of }: View) =>
      sameKind(viewed, kind) && !isDeepStrictEqual(before && of(before), after && of(after));
    return [...this.views].filter(([, views]) => views.some(differs)).map(([key]) => key);
  }

  private drop(source: string, key: string): void {
    const keys = this.readers.get(source);
    keys?.delete(key);
    if (keys?.size === 0) this.readers.delete(source);
  }
}
