// A kind as the campaign sees it: its properties from the CRD that is installed, and its table of meanings.

import { crdOf } from '../../src/schema/index.ts';
import type { Meanings } from './meaning.ts';
import { propertiesOf, type Property } from './property.ts';

/** Every property below the spec of a kind. */
export function propertiesIn({ kind }: Meanings): Property[] {
  const [{ schema }] = crdOf(kind).spec.versions;
  const spec = schema.openAPIV3Schema.properties?.['spec'];
  if (!spec) throw new TypeError(`${kind.kind} has no spec`);
  return propertiesOf(spec, ['spec']);
}
