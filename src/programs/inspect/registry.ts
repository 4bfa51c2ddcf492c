// The registry client for a look: short patience, because little is asked, and the one way out that judges every address.

import { type Clock, connector, EgressDenied, type EgressRules, systemResolve, trusting } from '../../base/index.ts';
import { type Credentials, Registry } from '../../oci/index.ts';

/** Who asks, and what must not be reached. */
export interface Looking {
  clock: Clock;
  random: () => number;
  rules: EgressRules;
  plainHttp: readonly string[];
  credentials?: Credentials;
  /** An authority to trust beside the usual ones. */
  ca?: string;
}

const seconds = 1_000;

/** A registry client that fetches nothing large. */
export function openRegistry({ clock, random, rules, plainHttp, credentials, ca }: Looking): Registry {
  const trust = ca === undefined ? {} : { secureContext: trusting(ca) };
  return new Registry({
    clock,
    random,
    plainHttp,
    ...(credentials && { credentials }),
    connect: connector({ rules, resolve: systemResolve, clock, within: 10 * seconds, ...trust }),
    hopeless: (error) => error instanceof EgressDenied,
    stallAfter: 10 * seconds,
    answerWithin: 20 * seconds,
  });
}
