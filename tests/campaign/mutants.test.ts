// Is the campaign worth its time? Faults that operators like ours had are planted into our own, and each must raise the alarm with
// the few operations that are named here; the operator without a fault must raise none with any of them.

import { deepEqual, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fixturesGround, type SharedGround } from './shared.ts';
import { played } from './fixtures.ts';
import { propertiesIn } from './kind.ts';
import { anyKind, type Document } from './meaning.ts';
import { mlmodel } from './mlmodel/index.ts';
import { mutants } from './mutants/index.ts';
import type { Alarm } from './oracles.ts';
import { companyOn } from './walk.ts';

const table = anyKind(mlmodel);
const properties = propertiesIn(table);
let shared: SharedGround;
before(async () => {
  shared = await fixturesGround(table);
});
after(() => shared.stop());

const [base = { spec: {} }] = table.bases;
const asking = (fields: object): Document => ({ ...base, spec: { ...(base.spec as object), ...fields } });
const slowly = { podAnnotations: { 'sim.baton.dev/container': 'download', 'sim.baton.dev/run-for': '2s' } };
const elsewhere = (name: string) => ({ modelURL: `https://models.example/${name}.onnx` });

/** What begins with a fault needs no second document. */
const edit = [base, asking({ env: [{ name: 'THREADS', value: '2' }] })];
const source = [base, asking(elsewhere('second'))];

/** What catches each fault, and which oracle says so. */
const catches: Record<string, { documents: Document[]; by: Alarm['oracle'][] }> = {
  shell: { documents: source, by: ['consistency'] },
  noService: { documents: edit, by: ['honesty'] },
  orphans: { documents: edit, by: ['deletion', 'consistency'] },
  hastyEdit: {
    documents: [base, asking({ ...slowly, ...elsewhere('hasty') }), asking({ ...slowly, ...elsewhere('third') })],
    by: ['consistency', 'differential', 'honesty'],
  },
  noChecksum: {
    documents: [base, asking({ ...elsewhere('pinned'), digest: `sha256:${'0'.repeat(64)}` })],
    by: ['consistency'],
  },
  unrestricted: { documents: edit, by: ['rest'] },
  frozen: { documents: edit, by: ['consistency', 'differential', 'honesty'] },
  halfCompared: { documents: [base, asking({ nodeSelector: { 'kubernetes.io/os': 'linux' } })], by: ['consistency'] },
  wideSelector: { documents: edit, by: ['honesty'] },
  secondDownload: { documents: edit, by: ['rest'] },
  editsMixed: { documents: edit, by: ['rest', 'stillness', 'differential', 'rollback'] },
  endsAll: { documents: [base, asking({ ...elsewhere('larger'), storageSize: '1.5Gi' })], by: ['operator'] },
  pendingForEver: { documents: edit, by: ['rest', 'honesty'] },
  failureUnseen: {
    documents: [
      base,
      asking({
        ...elsewhere('broken'),
        podAnnotations: { 'sim.baton.dev/container': 'download', 'sim.baton.dev/exit-code': '42' },
      }),
    ],
    by: ['honesty'],
  },
  readyTooEarly: {
    documents: [
      base,
      asking({ podAnnotations: { 'sim.baton.dev/container': 'server', 'sim.baton.dev/fault': 'image-pull-error' } }),
    ],
    by: ['honesty'],
  },
  flapping: { documents: edit, by: ['rest', 'stillness'] },
};

async function alarmsOf(mutant: string | undefined, documents: readonly Document[]): Promise<Alarm[]> {
  const { ground, close } = await shared.open(mutant === undefined ? {} : { mutant });
  try {
    const company = companyOn(ground, properties);
    const alarms = await played(company, await ground.namespace(), documents);
    return [...alarms, ...(await Promise.all(company.leaving)).flat()];
  } finally {
    await close();
  }
}

describe('a fault that is planted', { concurrency: 3 }, () => {
  for (const [name, { like, does }] of Object.entries(mutants))
    test(`${does} (${name}, fault ${like.join(' and ')})`, async (context) => {
      const { documents, by } = catches[name] ?? { documents: edit, by: [] };
      const alarms = await alarmsOf(name, documents);
      context.diagnostic(alarms.map(({ oracle, words }) => `${oracle}: ${words[0]}`).join('; ') || 'no alarm');
      ok(alarms.some(({ oracle }) => by.includes(oracle)));
    });
});

test('without a fault the same operations raise no alarm', async () => {
  const all = [...new Set(Object.values(catches).map(({ documents }) => documents))];
  const raised = await Promise.all(all.map((documents) => alarmsOf(undefined, documents)));
  deepEqual(raised.flat(), []);
});
