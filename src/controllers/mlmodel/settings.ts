// What the operator's configuration decides for every model.

import type { Framework } from './frameworks.ts';

export interface MLModelSettings {
  /** Our own image: the programs that run in pods. */
  image: string;
  frameworks: Readonly<Record<string, Framework>>;
  /** How `expose: true` reaches the outside. */
  exposure: 'NodePort';
}
