// How a fault is planted: a definition like the given one, whose decisions pass through one more function.

import type { ControllerDefinition, Decision, Desired, Pass } from '../../../src/kube/define.ts';
import type { KubeObject } from '../../../src/objects/index.ts';

/** A definition of whatever kind, as far as a fault needs to know it. */
// oxlint-disable-next-line typescript/no-explicit-any -- facts and clients are the kind's own
export type AnyDefinition = ControllerDefinition<any, any, any, any>;
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type AnyDecision = Decision<any>;
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type AnyPass = Pass<any, any>;

/** A fault: what it does, and how a definition gets it. */
export interface Mutant {
  /** The faults of the list that it stands for. */
  like: readonly number[];
  does: string;
  plant(definition: AnyDefinition): AnyDefinition;
}

/** A fault in what is decided. */
export const deciding =
  (change: (decision: AnyDecision, pass: AnyPass) => AnyDecision): Mutant['plant'] =>
  (definition) => ({ ...definition, decide: (pass) => change(definition.decide(pass), pass) });

/** A fault in what is read before it is decided. */
export const reading =
  (change: (pass: AnyPass) => AnyPass): Mutant['plant'] =>
  (definition) => ({ ...definition, decide: (pass) => definition.decide(change(pass)) });

/** A fault in what is wanted. */
export const wanting = (change: (want: Desired, pass: AnyPass) => Desired[]): Mutant['plant'] =>
  deciding((decision, pass) => ({ ...decision, want: decision.want.flatMap((want) => change(want, pass)) }));

/** The child of a wish. */
export const childOf = (want: Desired): KubeObject => Object.values(want)[0] as KubeObject;

/** The same wish for another child. */
export const withChild = (want: Desired, child: unknown): Desired => ({
  ...want,
  [Object.keys(want)[0] ?? 'apply']: child,
});
