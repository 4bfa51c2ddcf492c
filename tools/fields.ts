// The fields of a kind as a table, from its CRD: what a person may write, what holds if nobody does, what it means.

import { crdOf, type DefinedKind } from '../src/schema/index.ts';

interface Node {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Node>;
  items?: Node;
  additionalProperties?: Node;
  'x-kubernetes-int-or-string'?: boolean;
}

/** The table of `spec`, or of `status`. */
export function fieldTable(kind: DefinedKind, part: 'spec' | 'status'): string {
  const [version] = crdOf(kind).spec.versions;
  const root = (version?.schema.openAPIV3Schema as Node | undefined)?.properties?.[part] ?? {};
  const rows = rowsOf(root, '');
  return ['| field | form | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function rowsOf({ properties = {}, required = [] }: Node, under: string): string[] {
  return Object.entries(properties).flatMap(([name, node]) => {
    const path = `${under}${name}`;
    const fallback =
      node.default === undefined ? (required.includes(name) ? 'required' : '–') : code(JSON.stringify(node.default));
    const row = `| ${code(path)} | ${formOf(node)} | ${fallback} | ${(node.description ?? '').replaceAll('|', '\\|')} |`;
    return [row, ...rowsOf(node, `${path}.`), ...rowsOf(node.items ?? {}, `${path}[].`)];
  });
}

function formOf(node: Node): string {
  if (node.enum) return node.enum.map((value) => code(String(value))).join(', ');
  if (node['x-kubernetes-int-or-string']) return 'number or text';
  if (node.type === 'array') return `list of ${node.items?.type ?? 'values'}s`;
  return node.additionalProperties ? 'map' : (node.type ?? 'value');
}

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;
