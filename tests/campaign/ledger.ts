// What the operator wrote, by namespace, and how far it has seen each parent: read from the trace of the proxy, which is emptied
// as it is read, so that a campaign of hours needs no more memory than one of minutes.

import type { Call, FaultProxy } from '../../controlplane/faults/index.ts';
import { wordsOf } from '../kit/lane.ts';
import type { Key } from './witness.ts';

export interface Ledger {
  /** Writes about a parent or its children that began after this moment. */
  writesSince(key: Key, moment: number): string[];
  /** All writes of the operator after this moment, but for its lease. */
  allSince(moment: number): string[];
  /** The newest version of a parent that the operator was given. */
  seen(key: Key): number;
  /** All writes so far. */
  count(): number;
}

interface Entry {
  at: number;
  namespace: string;
  name: string;
  call: Call;
}

/** Keeps the books of a proxy. */
export function keepLedger(proxy: FaultProxy, plural: string): Ledger {
  const entries: Entry[] = [];
  const versions = new Map<string, number>();
  let count = 0;
  const took = (key: string, version: number) => versions.set(key, Math.max(version, versions.get(key) ?? 0));
  const read = () => {
    const { trace } = proxy;
    for (const call of trace.writes()) {
      if (call.resource === 'leases') continue;
      entries.push({ at: call.at, namespace: call.namespace, name: call.name, call });
      count++;
    }
    for (const { resource, namespace, name, resourceVersion } of trace.events)
      if (resource === plural) took(`${namespace}/${name}`, Number(resourceVersion));
    trace.clear();
    const old = performance.now() - 120_000;
    while ((entries[0]?.at ?? Infinity) < old) entries.shift();
  };
  const isOf =
    ({ namespace, name }: Key) =>
    (entry: Entry) =>
      entry.namespace === namespace && (entry.name === name || entry.name.startsWith(`${name}-`));
  const since = (moment: number) => {
    read();
    // What the API server refuses changes nothing: it is an attempt, and may be made again whenever somebody looks.
    return entries.filter(({ at, call }) => at > moment && (call.answer?.status ?? 500) < 400);
  };
  return {
    writesSince: (key, moment) =>
      since(moment)
        .filter(isOf(key))
        .map(({ call }) => wordsOf(call)),
    allSince: (moment) => since(moment).map(({ call, namespace }) => `${namespace}: ${wordsOf(call)}`),
    seen({ namespace, name }) {
      read();
      return versions.get(`${namespace}/${name}`) ?? 0;
    },
    count() {
      read();
      return count;
    },
  };
}
