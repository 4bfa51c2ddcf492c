// Waiting for an object as a user would: until it says that it is Ready for the generation that it has now.

import type { Parent } from '../../src/kube/define.ts';
import { eventually } from './eventually.ts';
import { saysReady } from './oracle.ts';

/** The object, once it is Ready; where it never is, its last status is told. */
export const untilReady = <P extends Parent>(get: () => Promise<P>, within = 60_000): Promise<P> =>
  eventually(
    async () => {
      const now = await get();
      if (saysReady(now)) return now;
      throw new Error(`${now.metadata.name} is ${JSON.stringify(now.status)}`);
    },
    { within, what: 'the object becomes Ready' },
  );
