// What the campaign must be told of a kind, because no schema says it: documents to begin with, what values mean, where a
// property shows, what Ready promises, and what may differ between two pasts. A kind joins by one such table.

import type { Parent } from '../../src/kube/define.ts';
import type { Kind, KubeObject } from '../../src/objects/index.ts';
import type { DefinedKind } from '../../src/schema/index.ts';
import type { Installed, Rig } from '../kit/rig.ts';
import type { World } from '../kit/subject.ts';
import type { Json } from './property.ts';
import type { Meaning } from './words.ts';

/** What a person writes: the spec, and the annotations that mean something. */
export interface Document {
  /** Only where a name is what is wrong. */
  name?: string;
  /** The spec that it had before, only where the change is what is wrong. */
  former?: Json;
  annotations?: Record<string, string>;
  spec: Json;
}

/** What a step left behind, for whoever judges whether a property shows. */
export interface Trail<P extends Parent = Parent> {
  parent: P;
  now: World;
  /** All states of the children and of the parent's status that came up in the step, the last ones included. */
  seen: readonly KubeObject[];
}

/** Whether the value of a property shows; `undefined` is the value of one that was removed. */
export type Shows<P extends Parent = Parent> = (value: Json, trail: Trail<P>) => boolean;

/** Fields that may differ between two pasts, with the reason; `when`: only of an object that says so itself. */
export interface Mask<P extends Parent = Parent> {
  /** Kind and path, such as `Deployment metadata.generation`; `*` is any one step, a path masks all below it. */
  field: string;
  because: string;
  when?: (parent: P) => boolean;
}

export interface Meanings<P extends Parent = Parent> {
  kind: DefinedKind & Kind<P>;
  installed: Installed;
  /** The kinds of its children. */
  children: readonly Kind[];
  /** Documents from which walks begin; the first is also what refusals are told of. */
  bases: readonly Document[];
  /** What a namespace must have so that the meanings have something to name. */
  furnish(rig: Rig, namespace: string): Promise<void>;
  /** What the value of a property is, by path. */
  means: Readonly<Record<string, Meaning>>;
  /** More values of a property, by path. */
  values: Readonly<Record<string, readonly Json[]>>;
  /** Documents with annotations, which no schema knows: one value each. */
  annotations: Readonly<Record<string, readonly string[]>>;
  /** Valid values that would cost too much to run; they are only shown to the API server. */
  isDear(path: string, value: Json): boolean;
  /** What must be set with a property so that it has any effect, by path. */
  with: Readonly<Record<string, (spec: Json) => Json>>;
  /** Whole values from which missing parents of a property are taken, by path. */
  examples: Readonly<Record<string, readonly Json[]>>;
  /** A document that breaks a CEL rule, by the rule's message; the rules that a schema makes of itself need none. */
  breaks: Readonly<Record<string, (document: Document) => Document>>;
  /** Where a property shows, by path, where it does not show as it is in a child. */
  shows: Readonly<Record<string, Shows<P>>>;
  /** The kinds of children in which a property shows as it is; any child where none is named. */
  bearers(path: string): readonly Kind[];
  /** Whether the status is about what is asked now, where an edit of annotations makes no new generation. */
  isTold?(parent: P): boolean;
  /** What a Ready object lacks of what it promises. */
  lacks(parent: P, now: World): string[];
  /** Whether what is Ready needs nothing more that a new object would have to get first: it runs nothing, and has the rest. */
  isIdle?(document: Document): boolean;
  /** Children that only a past explains, and that the object itself tells of. */
  isRemembered(child: KubeObject, parent: P, now: World): boolean;
  masks: readonly Mask<P>[];
  /** Whether a child is meant to outlive its parent. */
  outlives(child: KubeObject, parent: P): boolean;
}

/** A table with the type of its kind forgotten, for what works on all kinds. */
export const anyKind = <P extends Parent>(table: Meanings<P>): Meanings => table as unknown as Meanings;
