// Alarms that outlive their campaign: two documents, asked for one after the other, as a file. Each is played again in every run of
// the tests from then on, before all oracles.

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf } from '../../src/base/index.ts';
import type { Document } from './meaning.ts';
import type { Alarm } from './oracles.ts';
import type { Raised } from './run.ts';
import { beginning, type Company, step } from './walk.ts';

/** What is asked for, one after the other, and what was wrong with it once. */
export interface Fixture {
  kind: string;
  oracle: Alarm['oracle'];
  property: string;
  /** What an oracle said. */
  found: string[];
  documents: Document[];
}

const folder = join(import.meta.dirname, 'fixtures');

/** All fixtures, by the names of their files. */
export const fixtures = (): [string, Fixture][] =>
  globSync('*.json', { cwd: folder })
    .toSorted()
    .map((file) => [file, JSON.parse(readFileSync(join(folder, file), 'utf8')) as Fixture]);

/** Writes an alarm down, and tells where. */
export function writeFixture(kind: string, { oracle, operation, words, documents }: Raised): string {
  const { property } = operation;
  const fixture: Fixture = { kind, oracle, property, found: words.slice(0, 5), documents };
  const part = property.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
  const file = `${kind.toLowerCase()}-${oracle}-${part}-${hashOf(documents).slice(0, 6)}.json`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), `${JSON.stringify(fixture, undefined, 2)}\n`);
  return join('tests', 'campaign', 'fixtures', file);
}

/** Asks for these documents one after the other; what the oracles say of the last, and of the way back from it. */
export async function played(company: Company, namespace: string, documents: readonly Document[]): Promise<Alarm[]> {
  const [first, ...others] = documents;
  const last = others.pop();
  if (!first || !last) throw new TypeError('a fixture has two documents at least');
  const walker = await beginning(company, { namespace, name: `again${++company.births}x` }, first);
  if (walker.standing.alarms.length > 0) return walker.standing.alarms;
  const hurried = others.pop();
  const operation = { property: '', what: '', document: last, takenBack: true, ...(hurried && { hurried }) };
  const { alarms } = await step(company, walker, operation);
  return alarms;
}
