// Who watches the watchers: controllers that are wrong in one way each, which random schedules must find.

import { match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MLModel, MLModelStatus } from '../../../src/api/index.ts';
import { cut, decide } from '../../../src/controllers/mlmodel/index.ts';
import { apply, create, type Decision, type Desired, keep } from '../../../src/kube/define.ts';
import {
  type Deployment,
  type Job,
  Job as JobKind,
  jobResult,
  type KubeObject,
  type PersistentVolumeClaim,
  Pod,
} from '../../../src/objects/index.ts';
import { childIn } from './engine.ts';
import { anything } from './events.ts';
import type { Decider, Glance } from './life.ts';
import { oracles } from './oracles.ts';
import { beginning, play, schedulesOf } from './schedules.ts';
import { checkRest, rest } from './still.ts';

type Decided = Decision<MLModelStatus>;

/** The right decision, made wrong. */
const wrong =
  (change: (decision: Decided, glance: Glance) => Decided): Decider =>
  (pass, table) =>
    change(decide(pass, table), pass);

const wanting = (change: (want: Desired[], glance: Glance) => Desired[]): Decider =>
  wrong((decision, glance) => ({ ...decision, want: change(decision.want, glance) }));

const saying = (change: (status: MLModelStatus, glance: Glance) => MLModelStatus): Decider =>
  wrong((decision, glance) => ({ ...decision, status: change(decision.status, glance) }));

/** Changes what is applied of one kind. */
const applying = <T extends KubeObject>(kind: string, change: (child: T, model: MLModel) => T): Decider =>
  wanting((want, { object }) =>
    want.map((one) => ('apply' in one && one.apply.kind === kind ? apply(change(one.apply as T, object)) : one)),
  );

const isJob = (one: Desired): boolean => childIn(one).kind === 'Job';
const isDownload = (one: Desired): boolean => isJob(one) && childIn(one).metadata.name.includes('-download-');

const faults: { name: string; decider: Decider; found: RegExp }[] = [
  {
    name: 'says that everything is ready',
    decider: saying((status) => ({
      ...status,
      conditions: (status.conditions ?? []).map((one) => (one.type === 'Ready' ? { ...one, status: 'True' } : one)),
    })),
    found: /Ready|kstatus/,
  },
  {
    name: 'says what time it is',
    decider: saying((status, { now }) => ({ ...status, message: `${status.message} at ${now}` })),
    found: /nothing changed|come to rest/,
  },
  {
    name: 'names whichever server comes first',
    decider: saying((status, { seen }) => ({ ...status, message: seen.labelled(Pod)[0]?.metadata.name ?? '' })),
    found: /order of things/,
  },
  {
    name: 'forgets what was before',
    decider: wanting((want) => want.filter((one) => !('keep' in one))),
    found: /was deleted/,
  },
  {
    name: 'notes nothing',
    decider: wanting((want) => want.filter((one) => !('note' in one))),
    found: /weights|come to rest/,
  },
  {
    name: 'cancels no download',
    decider: wanting((want, { seen }) => [...want, ...seen.all(JobKind).map(keep)]),
    found: /goes on|at once|left over|order of things/,
  },
  {
    name: 'tries again what failed for good',
    decider: wanting((want, { seen }) =>
      want.filter((one) => !isJob(one) || !seen.all(JobKind).some((job) => jobResult(job) === 'failed')),
    ),
    found: /tried again/,
  },
  {
    name: 'starts every download anew',
    decider: wanting((want, { seen }) =>
      want.map((one) => (isDownload(one) ? create(renamed(childIn(one) as Job, seen.labelled(Pod).length)) : one)),
    ),
    found: /come to rest|volume|tried again|nothing changed/,
  },
  {
    name: 'renders servers by its own table',
    decider: (pass, table) =>
      applying<Deployment>('Deployment', (child, model) => ({
        ...child,
        spec: { ...child.spec, template: cut(model, table, 1).template },
      }))(pass, table),
    found: /revision|weights/,
  },
  {
    name: 'changes the size of every volume at once',
    decider: applying<PersistentVolumeClaim>('PersistentVolumeClaim', (child, { spec }) => ({
      ...child,
      spec: { ...child.spec, resources: { requests: { storage: String(spec.storageSize ?? '1Gi') } } },
    })),
    found: /shrink|class|bound/,
  },
  {
    name: 'stops servers that are not ready',
    decider: wrong(({ want, status }) => ({
      status,
      want: want.map((one) =>
        'apply' in one && one.apply.kind === 'Deployment' && status.phase !== 'Ready'
          ? apply({ ...one.apply, spec: { ...(one.apply as Deployment).spec, replicas: 0 } } as Deployment)
          : one,
      ),
    })),
    found: /servers were stopped|come to rest|stalled|nothing changed/,
  },
  {
    name: 'mounts whatever is in a registry',
    decider: (pass, table) => {
      const { manifest } = pass.facts;
      const known = manifest.state === 'known' && 'digest' in manifest.value ? manifest.value : undefined;
      const facts = known
        ? { ...pass.facts, manifest: { state: 'known' as const, value: { ...known, mountable: true } } }
        : pass.facts;
      return decide({ ...pass, facts }, table);
    },
    found: /mounted empty/,
  },
  {
    name: 'never gives up',
    decider: saying((status) => ({
      ...status,
      conditions: (status.conditions ?? []).map((one) => (one.type === 'Stalled' ? { ...one, status: 'False' } : one)),
    })),
    found: /kstatus|neither|Current/,
  },
];

const renamed = (job: Job, nth: number): Job => ({
  ...job,
  metadata: { ...job.metadata, name: `${job.metadata.name}-${nth}` },
});

describe('random schedules find a controller that', () => {
  for (const { name, decider, found } of faults)
    test(name, () => {
      const holds = fc.property(schedulesOf(anything), (schedule) => {
        const life = beginning(schedule, oracles, decider);
        play(life, schedule);
        rest(life);
        checkRest(life);
      });
      const { failed, errorInstance } = fc.check(holds, { numRuns: 500, seed: 1, endOnFailure: true });
      ok(failed, 'nothing was found');
      match((errorInstance as Error).message, found);
    });
});
