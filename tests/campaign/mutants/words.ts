// Faults in what is told, and in surviving: Ready too early, Pending for ever, a status that never rests, one object that ends the
// operator for all.

import { Deployment } from '../../../src/objects/index.ts';
import { type AnyDecision, deciding, type Mutant } from './mutant.ts';

interface Told {
  type: string;
  status: string;
  reason: string;
  message: string;
}

/** The status with other conditions. */
function telling(decision: AnyDecision, change: (condition: Told) => Partial<Told>): AnyDecision {
  const conditions = (decision.status.conditions as Told[]).map((one) => ({ ...one, ...change(one) }));
  return { ...decision, status: { ...decision.status, conditions } };
}

/** The same in another order than the last time. */
function turned(names: readonly string[]): string[] {
  turns = (turns + 1) % names.length;
  return [...names.slice(turns), ...names.slice(0, turns)];
}
let turns = 0;

const waiting = { reason: 'Pending', message: 'Waiting' };

export const words: Record<string, Mutant> = {
  endsAll: {
    like: [2, 18],
    does: 'one object with an unusual quantity ends the operator',
    plant: deciding((decision, { object }) => {
      if (/^\d+\.\d+|e\d/.test(String(object.spec.storageSize))) process.exit(1);
      return decision;
    }),
  },
  pendingForEver: {
    like: [4],
    does: 'an edit of a Ready object is followed by Pending for ever',
    plant: deciding((decision, { object, seen }) => {
      if ((object.metadata.generation ?? 1) === 1) return decision;
      const held = seen.all(Deployment).map((keep) => ({ keep }));
      const others = decision.want.filter((want) => !('apply' in want && want.apply.kind === 'Deployment'));
      return telling(
        { ...decision, want: [...others, ...held], status: { ...decision.status, phase: 'Pending' } },
        ({ type }) =>
          type === 'Ready' || type === 'Reconciling' ? { ...waiting, status: type === 'Ready' ? 'False' : 'True' } : {},
      );
    }),
  },
  failureUnseen: {
    like: [7, 8],
    does: 'a Job that failed counts as still running',
    plant: deciding((decision) => {
      if (decision.status.phase !== 'Failed') return decision;
      const going = { reason: 'Downloading', message: 'The weights are being downloaded' };
      const changed = { ...decision, status: { ...decision.status, phase: 'Downloading', message: going.message } };
      return telling(changed, ({ type }) => {
        if (type === 'Stalled') return { status: 'False' };
        return type === 'Ready' || type === 'Reconciling'
          ? { ...going, status: type === 'Ready' ? 'False' : 'True' }
          : {};
      });
    }),
  },
  readyTooEarly: {
    like: [9],
    does: 'Ready is told as soon as there is a Deployment',
    plant: deciding((decision, { seen }) => {
      if (seen.all(Deployment).length === 0) return decision;
      const changed = { ...decision, status: { ...decision.status, phase: 'Ready' } };
      return telling(changed, ({ type }) => {
        if (type === 'Ready') return { status: 'True' };
        return type === 'Reconciling' || type === 'Stalled' ? { status: 'False' } : {};
      });
    }),
  },
  flapping: {
    like: [22, 19],
    does: 'the status tells in another order each time, and the loop never rests',
    plant: deciding((decision) => ({
      ...decision,
      status: {
        ...decision.status,
        message: `Servers: ${turned(['a', 'b', 'c']).join(', ')}`,
      },
      again: 200,
    })),
  },
};
