// What the operator's configuration decides for every model.

import type { Exposure } from './exposure.ts';
import type { Framework } from './frameworks.ts';

export interface MLModelSettings {
  /** Our own image: the programs that run in pods. */
  image: string;
  frameworks: Readonly<Record<string, Framework>>;
  /** How `expose: true` reaches the outside. */
  exposure: Exposure;
  /** Whether nodes mount images as volumes; `auto` finds out. */
  imageVolumes: 'auto' | 'on' | 'off';
  /** Ranges of addresses that neither we nor our programs reach, beside those that nobody does. */
  egressDeny: readonly string[];
  /** Registries that are spoken to without TLS. */
  plainRegistries: readonly string[];
}
