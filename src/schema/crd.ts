// The CustomResourceDefinition of a kind. Whatever the API server would refuse, and whatever a person would miss in it (a
// description, a bound), is refused here first: all faults at once, each with the path of its field.

import { check } from './check.ts';
import { convert } from './convert.ts';
import type { Column, DefinedKind, KindDefinition } from './kind.ts';
import { namesField } from './rules.ts';
import { placeOf, refuse, type Structural } from './structural.ts';

/** kubectl apply keeps a copy in an annotation, and people read these files. */
const mostBytes = 64 * 1024;

/** A schema that cannot become a CRD; each problem begins with the path of a field. */
export class SchemaError extends Error {
  readonly problems: readonly string[];
  constructor(kind: string, problems: readonly string[]) {
    super(`${kind} cannot become a CRD:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'SchemaError';
    this.problems = problems;
  }
}

/** A CustomResourceDefinition, as far as we write it. */
export interface Crd {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string };
  spec: {
    group: string;
    names: Record<string, unknown>;
    scope: 'Namespaced';
    versions: [{ name: string; schema: { openAPIV3Schema: Structural }; [member: string]: unknown }];
  };
}

/** The CustomResourceDefinition of a kind; throws a SchemaError that lists every problem. */
export function crdOf({ definition }: DefinedKind): Crd {
  const problems: string[] = [];
  const schema = rootOf(definition, problems);
  checkNames(definition, problems);
  checkPaths(definition, schema, problems);
  const crd = assemble(definition, schema);
  const bytes = Buffer.byteLength(JSON.stringify(crd));
  if (bytes > mostBytes) problems.push(`spec: the CRD has ${bytes} bytes, more than ${mostBytes}`);
  if (problems.length > 0) throw new SchemaError(definition.kind, problems);
  return crd;
}

function rootOf(definition: KindDefinition, problems: string[]): Structural {
  const spec = partOf(definition, 'spec', problems);
  const status = namedConditions(partOf(definition, 'status', problems), definition.conditions ?? []);
  const root: Structural = {
    type: 'object',
    description: definition.description,
    properties: { spec, status },
    required: ['spec'],
  };
  const faults: string[] = [];
  check(root, placeOf('', faults));
  problems.push(...faults.map(fromRoot));
  return { ...root, properties: { ...metadataOf(definition), ...root.properties } };
}

/** Of an object's metadata a schema may judge only the name, and may not even describe the rest. */
function metadataOf({ longestName }: KindDefinition): { metadata?: Structural } {
  if (longestName === undefined) return {};
  const name: Structural = {
    type: 'string',
    description: 'What the object is called; its children have it in their names and labels.',
    maxLength: longestName,
  };
  return { metadata: { type: 'object', properties: { name } } };
}

/** Paths are told as people write them: `spec.x`, and the kind's own faults as those of the `object`. */
const fromRoot = (problem: string): string => (problem.startsWith('.') ? problem.slice(1) : `object${problem}`);

function partOf(definition: KindDefinition, part: 'spec' | 'status', problems: string[]): Structural {
  const place = placeOf(part, problems);
  const before = problems.length;
  const node = convert(definition[part], place);
  if (node.type !== 'object' && problems.length === before) refuse(place, 'is no object');
  return node;
}

/** People look for the condition types where the conditions are described. */
function namedConditions(status: Structural, types: readonly string[]): Structural {
  const node = status.properties?.['conditions'];
  if (!node) return status;
  const description = `${node.description ?? ''} Types: ${['Ready', 'Reconciling', 'Stalled', ...types].join(', ')}.`;
  return { ...status, properties: { ...status.properties, conditions: { ...node, description } } };
}

function checkNames({ group, version, kind, plural, shortNames = [] }: KindDefinition, problems: string[]): void {
  const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group))
    problems.push(`group: "${group}" is no domain name with a dot`);
  if (!/^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$/.test(version)) problems.push(`version: "${version}" is no version`);
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind)) problems.push(`kind: "${kind}" is not in CamelCase`);
  for (const name of [plural, ...shortNames])
    if (!label.test(name)) problems.push(`names: "${name}" is not in lower case letters, digits and dashes`);
}

/** A column or a scale path that leads nowhere would be an empty column, and a scale that always fails. */
function checkPaths({ columns = [], scale }: KindDefinition, schema: Structural, problems: string[]): void {
  const leads = (path: string) => path.startsWith('.metadata.') || namesField(schema, path);
  for (const { name, path } of columns) if (!leads(path)) problems.push(`columns.${name}: ${path} names no field`);
  for (const [name, path] of Object.entries(scale ?? {}))
    if (!leads(path)) problems.push(`scale.${name}: ${path} names no field`);
  if (scale && !scale.specPath.startsWith('.spec.')) problems.push('scale.specPath: is not below .spec');
  if (scale && !scale.statusPath.startsWith('.status.')) problems.push('scale.statusPath: is not below .status');
}

function assemble(definition: KindDefinition, openAPIV3Schema: Structural): Crd {
  const { group, version, kind, plural, shortNames = [], categories = [], columns = [] } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames.length > 0 ? { shortNames } : {}),
        ...(categories.length > 0 ? { categories } : {}),
      },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: [...columns.map(columnOf), age],
          subresources: subresourcesOf(definition),
          schema: { openAPIV3Schema },
        },
      ],
    },
  };
}

const columnOf = ({ path, ...column }: Column) => ({ ...column, jsonPath: path });

/** Own columns push out the one that kubectl would show. */
const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const subresourcesOf = ({ scale }: KindDefinition) => ({
  status: {},
  ...(scale
    ? {
        scale: {
          specReplicasPath: scale.specPath,
          statusReplicasPath: scale.statusPath,
          ...(scale.selectorPath ? { labelSelectorPath: scale.selectorPath } : {}),
        },
      }
    : {}),
});
