// A Trio lives in two steps: a Job speaks once, and what it said is noted on the ConfigMap; then a Deployment serves.
// It uses every word of the engine's vocabulary, and nothing else: a pure function of what the cache saw.

import {
  apply,
  create,
  type Decision,
  type Desired,
  defineController,
  type Facts,
  keep,
  note,
  type Observed,
  type Pass,
} from '../../../src/kube/define.ts';
import { ConfigMap, Deployment, Job, jobResult, Pod, rolledOut } from '../../../src/objects/index.ts';
import { config, type Findings, job, REVISION, server } from './manifests.ts';
import { OldTrio, Trio, type TrioStatus } from './schema.ts';
import { causeOf, statusOf } from './words.ts';

/** On the ConfigMap: what the Job said. It outlives the Job. */
export const RESULT = 'test.baton.dev/result';
/** On a foreign ConfigMap: what is copied. */
export const GREETING = 'test.baton.dev/greeting';

/** What is asked outside the cluster. */
export type TrioFacts = { probe: string };

/** The world outside the cluster, as a test plays it. */
export interface TrioClients {
  ask(question: string, signal: AbortSignal): Promise<string>;
  forget(thing: string, signal: AbortSignal): Promise<void>;
}

/** Where a Trio is, and what holds it up there. */
export type Stage =
  | { name: 'Pending'; reason: 'SourceMissing' | 'Asking' | 'CannotAsk'; cause: string }
  | { name: 'Working' | 'Failed'; cause: string | undefined }
  | { name: 'Serving'; result: string | undefined; cause: string | undefined }
  | { name: 'Ready'; result: string | undefined };

/** One pass: where is it, what should exist, what do we say. */
export function decide({ object: trio, seen, facts }: Pass<Trio, TrioFacts>): Decision<TrioStatus> {
  const stage = waitsFor(trio, seen, facts) ?? stageOf(trio, seen);
  const findings = findingsOf(trio, seen, facts);
  const running = seen.get(Deployment, server(trio).metadata.name);
  return { want: wanted(trio, stage, seen, findings), status: statusOf(trio, stage, running) };
}

/** What must be known before anything is started. */
function waitsFor({ spec }: Trio, seen: Observed, { probe }: Facts<TrioFacts>): Stage | undefined {
  if (spec.readFrom && !seen.read(ConfigMap, spec.readFrom))
    return { name: 'Pending', reason: 'SourceMissing', cause: `ConfigMap ${spec.readFrom} does not exist: create it` };
  if (spec.probe && probe.state === 'failed')
    return { name: 'Pending', reason: 'CannotAsk', cause: `Cannot ask ${spec.probe}: ${probe.why}` };
  if (spec.probe && probe.state !== 'known')
    return { name: 'Pending', reason: 'Asking', cause: `Waiting for an answer to ${spec.probe}` };
  return undefined;
}

/** Where the Trio is, judged only from its children: status is written, never read back. */
function stageOf(trio: Trio, seen: Observed): Stage {
  const done = seen.get(Job, job(trio).metadata.name);
  const noted = seen.get(ConfigMap, config(trio).metadata.name)?.metadata.annotations?.[RESULT];
  const verdict = jobResult(done);
  const result = noted ?? (verdict === 'complete' ? saidBy(done) : undefined);
  if (trio.spec.withJob && result === undefined)
    return { name: verdict === 'failed' ? 'Failed' : 'Working', cause: causeOf(seen) };

  const wish = server(trio);
  const running = seen.get(Deployment, wish.metadata.name);
  const current = running?.metadata.annotations?.[REVISION] === wish.metadata.annotations?.[REVISION];
  return current && rolledOut(running) ? { name: 'Ready', result } : { name: 'Serving', result, cause: causeOf(seen) };
}

/** What the Job was told to say; the Job itself is the evidence, its pods may be gone. */
const saidBy = (done: Job | undefined): string => done?.spec.template.spec.containers[0]?.args?.[0] ?? '';

function findingsOf({ spec }: Trio, seen: Observed, { probe }: Facts<TrioFacts>): Findings {
  const greeting = spec.readFrom && seen.read(ConfigMap, spec.readFrom)?.metadata.annotations?.[GREETING];
  return {
    ...(greeting ? { greeting } : {}),
    ...(spec.probe && probe.state === 'known' ? { answer: probe.value } : {}),
  };
}

function wanted(trio: Trio, stage: Stage, seen: Observed, findings: Findings): Desired[] {
  const words = config(trio, findings);
  if (stage.name === 'Pending') return [...seen.all(ConfigMap), ...seen.all(Job), ...seen.all(Deployment)].map(keep);
  if ('result' in stage) return [apply(words), ...noteOf(words, stage.result), apply(server(trio))];
  return [apply(words), create(job(trio)), ...seen.all(Deployment).map(keep)];
}

const noteOf = (words: ConfigMap, result: string | undefined): Desired[] =>
  result === undefined ? [] : [note(words, { [RESULT]: result })];

/** The engine's test controller: everything but a finalizer. */
export const trioController = defineController<Trio, TrioStatus, TrioFacts, TrioClients>({
  kind: Trio,
  aliases: [OldTrio],
  owns: [ConfigMap, Job, Deployment],
  labelled: [Pod],
  reads: [ConfigMap],
  gather: {
    probe: {
      inputs: ({ spec }) => spec.probe,
      freshFor: 2_000,
      fetch: (question: string, { clients, signal }) => clients.ask(question, signal),
    },
  },
  decide,
});

/** The same with a finalizer: what stands for the object outside the cluster is forgotten before it goes. */
export const cleaningTrioController = defineController<Trio, TrioStatus, TrioFacts, TrioClients>({
  ...trioController,
  cleanup: {
    finalizer: 'test.baton.dev/external',
    async run({ spec }, { clients, signal }) {
      if (spec.external) await clients.forget(spec.external, signal);
      return 'done';
    },
  },
});
