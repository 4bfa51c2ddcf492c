// An alarm made small: does it come again from two applies alone, and with how little in them? What does not come again is told
// as such; it may have been the weather.

import type { Document } from './meaning.ts';
import { played } from './fixtures.ts';
import type { Raised } from './run.ts';
import type { Company } from './walk.ts';

/** Attempts to take something away: each costs some seconds. */
const attempts = 8;

/** The alarm with the smallest documents that still raise it; undefined if it does not come again. */
export async function shrunk(company: Company, namespace: string, raised: Raised): Promise<Raised | undefined> {
  const again = async (documents: Document[]) =>
    (await played(company, namespace, documents)).find(({ oracle }) => oracle === raised.oracle);
  if (raised.documents.length < 2) return undefined;
  const first = await again(raised.documents);
  if (!first) return undefined;
  let small: Raised = { ...raised, words: first.words };
  for (const field of spareFields(raised.documents).slice(0, attempts)) {
    const documents = small.documents.map((document) => without(document, field));
    const alarm = await again(documents).catch(() => undefined); // refused without it
    if (alarm) small = { ...small, words: alarm.words, documents };
  }
  return small;
}

type Fields = Record<string, unknown>;

/** Fields that are the same in all documents, so that the difference is elsewhere. */
function spareFields(documents: readonly Document[]): string[] {
  const [first, ...others] = documents.map(({ spec }) => spec as Fields);
  return Object.keys(first ?? {}).filter((field) =>
    others.every((other) => JSON.stringify(other[field]) === JSON.stringify(first?.[field])),
  );
}

function without(document: Document, field: string): Document {
  const { [field]: _spare, ...spec } = document.spec as Fields;
  return { ...document, spec };
}
