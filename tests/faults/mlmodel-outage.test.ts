// The API server is killed and started again in the middle of models' lives: while one downloads, while one rolls out, while
// one is at rest. Each ends as without the fault, and no server is replaced or restarted for it.

import { equal } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Deployment, Pod } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { mlmodel } from '../kit/modellife.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { type Lane, name, onLane } from '../kit/lane.ts';
import { live, type Outcome, sameAs, settles } from '../kit/story.ts';
import type { Subject } from '../kit/subject.ts';

/** Long enough to be caught in the middle of it. */
const subject: Subject = {
  ...mlmodel,
  life: mlmodel.life.slice(0, 2).map((spec, step) => ({
    ...spec,
    podAnnotations: step === 0 ? {} : { 'sim.baton.dev/run-for': '6s', 'sim.baton.dev/ready-delay': '6s' },
  })),
};

let rig: Rig;
let reference: Outcome;
before(async () => {
  rig = await startRig({ nodes: 1 }, subject.installed);
  reference = await onLane(rig, { subject }, live);
});
after(() => rig.stop());

/** The moments at which a life is caught; each is in the second step of its life. */
const moments: Record<string, (lane: Lane) => Promise<unknown>> = {
  'while it downloads': ({ truth }) =>
    eventually(() => truth.all(Pod).some((pod) => isDownload(pod) && pod.status?.phase === 'Running'), {
      what: 'the download runs',
    }),
  'while it rolls out': ({ truth }) =>
    eventually(
      () => {
        const { status, metadata } = truth.get(Deployment, `${name}-server`) ?? {};
        return status?.replicas === 2 && status.observedGeneration === metadata?.generation;
      },
      { what: 'the servers roll' },
    ),
  'at rest': settles,
};

const isDownload = ({ metadata }: Pod): boolean => metadata.labels?.['app.kubernetes.io/component'] === 'download';

/** Waits for all who are going to meet, then acts once. */
function meeting(count: number, act: () => Promise<void>): () => Promise<void> {
  let present = 0;
  let acted: Promise<void> | undefined;
  return async () => {
    if (++present === count) acted = act();
    await (await eventually(() => acted && { acted }, { within: 120_000, what: 'all lives are at their moments' }))
      .acted;
  };
}

interface Outage {
  happen: () => Promise<void>;
  /** Whether a balancer keeps requests from a server that is not ready. One that has just started knows no roles yet. */
  balanced: 'yes' | 'no';
}

const outages: Record<string, Outage> = {
  'for a moment': { happen: () => rig.plane.restartApiServer(), balanced: 'no' },
  'for ten seconds, behind a balancer': {
    async happen() {
      await rig.plane.killApiServer();
      await pause(10_000);
      await rig.plane.startApiServer();
    },
    balanced: 'yes',
  },
};

for (const [how, { happen, balanced }] of Object.entries(outages))
  describe(`the API server goes ${how}`, { concurrency: 3 }, () => {
    const met = meeting(Object.keys(moments).length, happen);
    for (const [when, comes] of Object.entries(moments))
      test(when, () =>
        onLane(rig, { subject, gaps: 'bridged' }, async (lane) => {
          const outcome = await live(lane, async (edit, step) => {
            await edit();
            if (step === 0) return;
            await comes(lane);
            if (balanced === 'yes') await lane.proxy.now({ kind: 'connections', manner: 'refuse' });
            await met();
            await lane.proxy.now({ kind: 'connections', manner: 'accept' });
          });
          // The truth has a gap: in which order things came meanwhile is not known, but what was sent is.
          const broken = subject.misdeeds(lane.proxy.trace.writes());
          const told = balanced === 'yes' ? outcome.births : withoutAlarm(outcome.births);
          sameAs(reference, { ...outcome, births: told, broken }, subject);
          equal(lane.operator.restarts(), 0);
        }),
      );
  });

/** A server that knows no roles yet answers 403, and nobody can tell that from a role that is missing. */
const withoutAlarm = (births: Outcome['births']): Outcome['births'] =>
  Object.fromEntries(Object.entries(births).filter(([called]) => !called.startsWith('Event MissingPermission')));
