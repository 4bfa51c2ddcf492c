// The controllers that the operator runs, as its settings make them.

import { mlModelController } from '../controllers/mlmodel/index.ts';
import type { OperatorOptions } from '../kube/index.ts';
import { tableOf } from './frameworks.ts';
import type { Settings } from './settings.ts';

/** Every controller of the product. */
export function controllersFrom({
  image,
  frameworks,
  exposure,
}: Pick<Settings, 'image' | 'frameworks' | 'exposure'>): OperatorOptions['controllers'] {
  const mlModel = mlModelController({ image, frameworks: tableOf(image, frameworks), exposure });
  return [{ definition: mlModel }];
}
