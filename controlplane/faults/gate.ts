// Between a watch and its caller: open as a rule, and while it is closed it keeps what comes, in order, for later.

import type { Clock } from '../../src/base/index.ts';
import type { Outlet } from './outlet.ts';
import type { WatchEvent } from './trace.ts';

/** What is to be written for an event; several parts leave in packets of their own. */
export interface Delivery {
  parts: readonly Buffer[];
  event: WatchEvent;
}

export interface Gate {
  pass(delivery: Delivery): void;
  close(): void;
  /** Opens again; what was kept is delivered or forgotten. */
  open(kept: 'deliver' | 'forget'): void;
  shut(): boolean;
  /** Ends the answer, behind all that is kept. */
  end(): void;
}

/** An open gate. */
export function makeGate(outlet: Outlet, clock: Clock): Gate {
  const kept: Delivery[] = [];
  let shut = false;
  let ended = false;
  const deliver = ({ parts, event }: Delivery) => {
    const [only, ...more] = parts;
    if (only === undefined) return;
    if (more.length === 0) outlet.write(only);
    else outlet.writeApart(parts);
    event.deliveredAt = clock.monotonic();
  };
  return {
    shut: () => shut,
    close: () => void (shut = true),
    pass: (delivery) => void (shut ? kept.push(delivery) : deliver(delivery)),
    open(what) {
      shut = false;
      const all = kept.splice(0);
      if (what === 'deliver') all.forEach(deliver);
      if (ended) outlet.end();
    },
    end() {
      ended = true;
      if (!shut) outlet.end();
    },
  };
}
