// The door of the folder: one zod schema a kind, and the CustomResourceDefinition that comes from it.

export { type Crd, crdOf, SchemaError } from './crd.ts';
export {
  type AskedOf,
  aliasOf,
  type Column,
  type DefinedKind,
  defineKind,
  type Json,
  type KindDefinition,
  type KindNames,
  type ObjectOf,
  type Scale,
  type StatusOf,
} from './kind.ts';
export {
  annotationMap,
  commonStatus,
  conditions,
  dnsLabel,
  immutable,
  intOrString,
  labelMap,
  labelText,
  listMap,
  mapOf,
  objectName,
  opaque,
  quantity,
  setOf,
  withRules,
} from './pieces.ts';
export type { CelRule, Structural } from './structural.ts';
