// How objects stand and how long they took, for the metrics: counted by phase, and timed from the moment at which
// somebody asked for something (a new object, another generation) to Ready=True for just that.

import type { Clock } from '../base/index.ts';
import { type CommonStatus, conditionOf, type KubeObject } from '../objects/index.ts';
import type { Change, Store } from './cache.ts';

/** A creation time is cut to the second; what is younger than that was created just now. */
const wholeSeconds = 1_000;

type Told = KubeObject & { status?: CommonStatus };

export interface ReadinessOptions {
  clock: Clock;
  /** One object got Ready: its kind, and how long it took in milliseconds. */
  took: (kind: string, ms: number) => void;
}

/** Follows parents from what was asked to Ready. */
export class Readiness {
  private readonly options: ReadinessOptions;
  /** When somebody asked, by UID; gone once it is Ready. */
  private readonly asked = new Map<string, number>();

  constructor(options: ReadinessOptions) {
    this.options = options;
  }

  /** A change of a parent. */
  changed({ store, before, after }: Change): void {
    const [former, uid] = [before?.metadata.uid, after?.metadata.uid ?? ''];
    if (former !== undefined && former !== uid) this.asked.delete(former);
    if (!after) return;
    const since = this.since(former === uid ? before : undefined, after);
    if (since !== undefined) this.asked.set(uid, since);
    const began = this.asked.get(uid);
    if (began === undefined || !isReady(after)) return;
    this.asked.delete(uid);
    this.options.took(store.kind.kind, Math.max(0, this.options.clock.now() - began));
  }

  /**
   * When the present state was asked for, if this change shows it. An object that is met for the first time and has been
   * edited before may have been asked for at any time, so it is not timed; nor is one that is Ready already.
   */
  private since(before: KubeObject | undefined, after: Told): number | undefined {
    const now = this.options.clock.now();
    if (before) return before.metadata.generation === after.metadata.generation ? undefined : now;
    if (after.metadata.generation !== 1 || isReady(after)) return undefined;
    const created = Date.parse(after.metadata.creationTimestamp ?? '');
    return now - created > wholeSeconds ? created : now;
  }
}

/** Whether what is asked for now is Ready. */
function isReady({ metadata, status }: Told): boolean {
  const ready = conditionOf(status, 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}

/** How many objects are in each phase, by the name of the phase. */
export function phasesIn(stores: Iterable<Store>): Map<string, number> {
  const phases = new Map<string, number>();
  for (const store of stores)
    for (const { object } of store.all()) {
      const phase = (object as Told).status?.phase ?? 'Unknown';
      phases.set(phase, (phases.get(phase) ?? 0) + 1);
    }
  return phases;
}
