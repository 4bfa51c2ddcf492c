// Violations before the API server: each must be refused, by the rule that it breaks, with the field that it is in. Nothing is
// stored, so thousands of them need nobody else.

import { ApiError, type Client } from '../../src/kube/index.ts';
import type { Rig } from '../kit/rig.ts';
import type { Document, Meanings } from './meaning.ts';
import type { Json, Property } from './property.ts';
import { type Rule, rulesOf, type Violation, violationsOf } from './violations.ts';

/** What the API server says of a document: nothing, or its complaints. */
export async function judged(
  client: Client,
  { kind }: Meanings,
  { document, namespace }: { document: Document; namespace: string },
): Promise<{ field: string; message: string }[]> {
  const { name = 'judged', annotations = {}, spec, former } = document;
  const written = (asked: Json) =>
    JSON.stringify({ apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, annotations }, spec: asked });
  const path = `/apis/${kind.apiVersion}/namespaces/${namespace}/${kind.plural}`;
  const query = { dryRun: 'All', fieldValidation: 'Strict' };
  if (former !== undefined) await client.raw('POST', path, { body: written(former) });
  try {
    await (former === undefined
      ? client.raw('POST', path, { body: written(spec), query })
      : client.raw('PATCH', `${path}/${name}`, { ...replacing(spec), query }));
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0) throw error;
    if (error.causes.length === 0) return [{ field: '', message: error.message }];
    return error.causes.map(({ field = '', message = '' }) => ({ field, message }));
  } finally {
    if (former !== undefined) await client.raw('DELETE', `${path}/${name}`);
  }
}

/** A person who replaces the spec. */
const replacing = (value: Json) => ({
  body: JSON.stringify([{ op: 'replace', path: '/spec', value }]),
  contentType: 'application/json-patch+json',
});

/** Why a violation was not refused as it should be; undefined if it was. */
function misjudged(
  { name, field, says }: Violation,
  complaints: readonly { field: string; message: string }[],
): string | undefined {
  if (complaints.some((one) => one.field === field && says.test(one.message))) return undefined;
  const told = complaints.map((one) => `${one.field}: ${one.message}`).join('; ');
  return `${name}: expected a complaint about ${field} like ${String(says)}, but ${told || 'it was taken'}`;
}

/** Rules that no violation broke as it should. */
const unbroken = (rules: readonly Rule[], broken: ReadonlySet<string>): string[] =>
  rules.map(({ name }) => name).filter((name) => !broken.has(name));

/** What came of all violations of a kind. */
export interface Refusals {
  operations: number;
  rules: number;
  wrong: string[];
  unbroken: string[];
}

/** Shows every violation of a kind to the API server, in a namespace of its own. */
export async function refuseAll(
  rig: Pick<Rig, 'admin' | 'namespace'>,
  table: Meanings,
  { properties, seed }: { properties: readonly Property[]; seed: number },
): Promise<Refusals> {
  const namespace = await rig.namespace();
  const rules = rulesOf(properties, table);
  const violations = violationsOf(properties, table, seed);
  const wrong: string[] = [];
  const broken = new Set<string>();
  for (const violation of violations) {
    const why = misjudged(violation, await judged(rig.admin, table, { document: violation.document, namespace }));
    if (why === undefined) broken.add(violation.name);
    else wrong.push(why);
  }
  return { operations: violations.length, rules: rules.length, wrong, unbroken: unbroken(rules, broken) };
}
