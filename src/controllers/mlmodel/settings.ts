// What the operator's configuration decides for every model.

import type { ProgramSettings } from '../../serving/index.ts';
import type { Exposure } from './exposure.ts';
import type { Framework } from './frameworks.ts';

export interface MLModelSettings extends ProgramSettings {
  frameworks: Readonly<Record<string, Framework>>;
  /** How `expose: true` reaches the outside. */
  exposure: Exposure;
  /** Whether nodes mount images as volumes; `auto` finds out. */
  imageVolumes: 'auto' | 'on' | 'off';
}
