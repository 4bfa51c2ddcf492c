// How a new revision takes over from the old one, in the same words for every kind whose pods serve.

import * as z from 'zod';

/** The field `rollout`; what it means to keep former revisions differs from kind to kind. */
export const rolloutFields = (history: string) =>
  z
    .object({
      strategy: z
        .enum(['auto', 'surge', 'replace'])
        .default('auto')
        .describe(
          'How a new revision takes over: beside the old one if there is room (auto), always (surge), or in its place.',
        ),
      progressDeadlineSeconds: z
        .int32()
        .min(30)
        .max(86_400)
        .default(600)
        .describe('How long a step may take before it counts as stalled.'),
      history: z.int32().min(0).max(10).default(1).describe(history),
    })
    .default({ strategy: 'auto', progressDeadlineSeconds: 600, history: 1 })
    .describe('How updates happen.');

/** What it says. */
export type RolloutFields = z.output<ReturnType<typeof rolloutFields>>;
