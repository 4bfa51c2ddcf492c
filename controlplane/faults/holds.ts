// Requests that wait until the test lets them go: a write that is "on the wire" for as long as the test wants.

import type { Call } from './trace.ts';

export interface Holds {
  /** Waits until `release(name)`. A name that was released stays open only for those who waited. */
  wait(name: string, call: Call): Promise<void>;
  release(name: string): void;
  releaseAll(): void;
  /** The first request that is held under this name, now or later. */
  holding(name: string): Promise<Call>;
}

interface Waiting {
  call: Call;
  go: () => void;
}

/** Nothing is held yet. */
export function makeHolds(): Holds {
  const held = new Map<string, Waiting[]>();
  const curious = new Map<string, ((call: Call) => void)[]>();
  const release = (name: string) => {
    for (const { go } of held.get(name) ?? []) go();
    held.delete(name);
  };
  return {
    release,
    releaseAll: () => [...held.keys()].forEach(release),
    wait: (name, call) =>
      new Promise((go) => {
        held.set(name, [...(held.get(name) ?? []), { call, go }]);
        for (const tell of curious.get(name) ?? []) tell(call);
        curious.delete(name);
      }),
    holding: (name) =>
      new Promise((tell) => {
        const first = held.get(name)?.[0];
        if (first) return tell(first.call);
        curious.set(name, [...(curious.get(name) ?? []), tell]);
      }),
  };
}
