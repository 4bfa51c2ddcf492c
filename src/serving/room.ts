// Whether a server that finds no room would find it in the place of an old one. To take away what answers for one that
// can start nowhere would end the service for nothing.

import { type Pod, type PodSpec, quantityOf } from '../objects/index.ts';

/** What the scheduler says when the nodes are full. */
const full = /Insufficient |Too many pods|free ports|max volume count/;

/** It tells of each node whether it would help if others had to go there; a pod that is larger than all nodes is told this alone. */
const [hopeless, hopeful] = [/Preemption is not helpful/, /No preemption victims found/];

/** What it says of nodes that are not asked for. Where no node is told so, those of old servers would do, too. */
const elsewhere = /affinity\/selector|untolerated taint/;

/** Whether the words about a waiting server are about room that one of these would leave. */
export function wouldFit(waiting: Pod, words: string, old: readonly Pod[]): boolean {
  if (!full.test(words) || (hopeless.test(words) && !hopeful.test(words))) return false;
  const isAnywhere = !elsewhere.test(words);
  return old.some(({ spec }) => (isAnywhere || leadsTo(waiting.spec, spec)) && leavesEnough(words, spec));
}

/** Whether the node of an old server is one of those that are asked for now. */
function leadsTo(asked: PodSpec, old: PodSpec): boolean {
  const labels = Object.entries(asked.nodeSelector ?? {});
  const tolerated = new Set(tolerationsOf(asked));
  return (
    labels.every(([key, value]) => old.nodeSelector?.[key] === value) &&
    tolerationsOf(old).every((one) => tolerated.has(one))
  );
}

const tolerationsOf = (spec: PodSpec): string[] =>
  ((spec['tolerations'] ?? []) as object[]).map((one) => JSON.stringify(one));

/** Whether an old server holds something of everything that is short. */
const leavesEnough = (words: string, old: PodSpec): boolean =>
  [...words.matchAll(/Insufficient ([\w./-]*\w)/g)].every(([, resource = '']) => held(old).has(resource));

const held = ({ containers }: PodSpec): Set<string> => {
  const resources = containers.map((one) => (one['resources'] ?? {}) as Record<string, Record<string, unknown>>);
  return new Set(resources.flatMap(({ requests, limits }) => Object.keys({ ...limits, ...requests })));
};

/** Whether a quota that refuses a server would take it if the old ones were gone: it asks for no more than there is at all. */
export function fitsQuota(words: string): boolean {
  const [, requested = '', limited = ''] = /requested: (.*), used: .*, limited: (.*)$/.exec(words) ?? [];
  const most = new Map(amounts(limited));
  return amounts(requested).every(([name, amount]) => amount <= (most.get(name) ?? amount));
}

const amounts = (words: string): [string, bigint][] =>
  words.split(',').flatMap((one) => {
    const [name = '', amount = ''] = one.split('=');
    const value = quantityOf(amount.trim());
    return value === undefined ? [] : [[name.trim(), value]];
  });
