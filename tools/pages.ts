// The parts of the documentation that come from code: a page says where by a pair of comments, and `make manifests` writes
// what stands between them. The rest of the page is written by people.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefinedKind } from '../src/schema/index.ts';
import { table } from '../src/operator/index.ts';
import { fieldTable } from './fields.ts';
import { productKinds } from './product.ts';

/** One generated part of a page. */
export interface Part {
  page: string;
  /** The word in the comments: `<!-- settings -->` and `<!-- /settings -->`. */
  name: string;
  text: () => string;
}

/** The tables of a kind on its page. */
const fieldsOf = (kind: DefinedKind): Part[] =>
  (['spec', 'status'] as const).map((name) => ({
    page: `docs/spec/${kind.kind.toLowerCase()}.md`,
    name,
    text: () => fieldTable(kind, name),
  }));

export const parts: readonly Part[] = [
  { page: 'docs/spec/operator.md', name: 'settings', text: table },
  ...productKinds.flatMap(fieldsOf),
];

/** A page with its part put in. */
export function filled(text: string, { page, name, text: part }: Part): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [begin, end] = [text.indexOf(open), text.indexOf(close)];
  if (begin < 0 || end < begin) throw new Error(`${page} has no place for ${name}: write ${open} and ${close} into it`);
  return `${text.slice(0, begin + open.length)}\n${part()}\n${text.slice(end)}`;
}

/** The pages whose generated parts are not what they should be, with their right text. */
export function stalePages(root: string): Map<string, string> {
  const stale = new Map<string, string>();
  for (const part of parts) {
    const held = stale.get(part.page) ?? readFileSync(join(root, part.page), 'utf8');
    const right = filled(held, part);
    if (right !== held) stale.set(part.page, right);
  }
  return stale;
}
