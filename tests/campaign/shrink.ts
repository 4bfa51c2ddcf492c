// Does an alarm come again from its applies alone, once everything else is quiet, and with how little in them? What does not is told
// as such: on a busy machine news is late, and a moment on the way looks like the end of it.

import { played } from './fixtures.ts';
import type { Document } from './meaning.ts';
import type { Alarm } from './oracles.ts';
import type { Raised } from './run.ts';
import { beginning, type Company } from './walk.ts';

/** Attempts to take something away: each costs some seconds. */
const attempts = 8;

/** The first alarm of each sort that comes again, one after the other, or cannot be tried again; and all that do not. */
export async function triedAgain(
  company: Company,
  raised: readonly Raised[],
): Promise<{ lasting: Raised[]; passing: Raised[] }> {
  const namespace = await company.ground.namespace();
  const lasting = new Map<string, Raised>();
  const passing: Raised[] = [];
  for (const alarm of raised) {
    const sort = `${alarm.oracle} ${alarm.operation.property}`;
    if (lasting.has(sort)) continue;
    const again = await soundsAgain(company, namespace, alarm).catch((error: unknown) => [String(error)]);
    if (again) lasting.set(sort, { ...alarm, words: again });
    else passing.push(alarm);
  }
  return { lasting: [...lasting.values()], passing };
}

/** What the oracle says once more. At the end of a campaign it speaks of no document that could be asked for again. */
async function soundsAgain(company: Company, namespace: string, raised: Raised): Promise<string[] | undefined> {
  const { documents, oracle, words } = raised;
  const [first] = documents;
  if (!first) return words;
  const alarms: Alarm[] =
    documents.length > 1
      ? await played(company, namespace, documents)
      : (await beginning(company, { namespace, name: `again${++company.births}x` }, first)).standing.alarms;
  return alarms.find((alarm) => alarm.oracle === oracle)?.words;
}

/** An alarm with the smallest documents that still raise it. */
export async function shrunk(company: Company, namespace: string, raised: Raised): Promise<Raised> {
  const again = async (documents: Document[]) =>
    (await played(company, namespace, documents)).find(({ oracle }) => oracle === raised.oracle);
  let small = raised;
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
