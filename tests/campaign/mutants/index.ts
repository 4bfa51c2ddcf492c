// Faults that operators like ours had, planted into our own: a definition is wrapped, and never changed where it stands. The number
// is that of the fault in the list of what was found in the code that this project follows.

import type { AnyDefinition, Mutant } from './mutant.ts';
import { wants } from './wants.ts';
import { words } from './words.ts';

/** All mutants, by name. */
export const mutants: Readonly<Record<string, Mutant>> = { ...wants, ...words };

/** A definition with the fault of this name. */
export function mutated<D>(definition: D, name: string): D {
  const mutant = mutants[name];
  if (!mutant) throw new TypeError(`there is no mutant ${name}`);
  return mutant.plant(definition as AnyDefinition) as D;
}
