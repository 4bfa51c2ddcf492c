// All watches that are open, and what is in force for those that open later: a frozen view stays frozen when the
// operator reconnects, or it could simply ask again.

import { canonical } from '../../src/base/index.ts';
import { matches } from './filter.ts';
import type { CallFilter, WatchAction } from './plan.ts';
import type { WatchStream } from './stream.ts';

export interface Watches {
  opened(stream: WatchStream): void;
  closed(stream: WatchStream): void;
  /** Acts on the watches that the action names, else on `own`, else on all. */
  act(action: WatchAction, own?: WatchStream): void;
  /** Every watch as if there never had been a plan; what was held is delivered. */
  normal(): void;
  count(): number;
}

type Lasting = { kind: 'freeze' | 'bookmarkOnly'; watches: CallFilter };

/** No watch is open yet. */
export function makeWatches(): Watches {
  const open = new Set<WatchStream>();
  let lasting: Lasting[] = [];
  return {
    count: () => open.size,
    opened(stream) {
      open.add(stream);
      for (const { kind, watches } of lasting) if (matches(watches, stream.call)) actOn(stream, { kind });
    },
    closed: (stream) => void open.delete(stream),
    act(action, own) {
      const { watches } = action;
      const chosen = watches || !own ? [...open].filter(({ call }) => matches(watches ?? {}, call)) : [own];
      if (watches || !own) lasting = lastingAfter(lasting, action);
      for (const stream of chosen) actOn(stream, action);
    },
    normal() {
      lasting = [];
      for (const stream of open) stream.normal();
    },
  };
}

/** What is in force after an action on all watches, or on those that it names. */
function lastingAfter(lasting: Lasting[], { kind, watches }: WatchAction): Lasting[] {
  if (kind === 'freeze' || kind === 'bookmarkOnly') return [...lasting, { kind, watches: watches ?? {} }];
  if (kind !== 'unfreeze') return lasting;
  return lasting.filter((one) => one.kind !== 'freeze' || (watches && !same(one.watches, watches)));
}

function actOn(stream: WatchStream, action: WatchAction): void {
  switch (action.kind) {
    case 'freeze':
      return stream.freeze();
    case 'unfreeze':
      return stream.thaw(action.held ?? 'deliver');
    case 'bookmarkOnly':
      return stream.onlyBookmarks();
    case 'reset':
      return stream.reset();
    case 'closeClean':
      return stream.closeClean();
    case 'errorEvent':
      return stream.fail(action);
  }
}

const same = (one: CallFilter, other: CallFilter): boolean => canonical(one) === canonical(other);
