// Where a DeviceTemplate stands, and what holds it up. Who waits for KMM waits as long as KMM takes: nothing tells since when;
// a consumer that does not start has the time of its pod.

import type { DeviceTemplate } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { type Cause, longestModule, Module } from '../../objects/index.ts';
import { bounded, type Standing } from '../../serving/index.ts';
import { isNameless, moduleName } from './module.ts';
import { type DeviceSettings, forbidden } from './privilege.ts';
import type { Revision } from './revision.ts';
import { nobody, placeWords } from './nodewords.ts';
import { type Counts, type Place, type Survey, waiting, worstOf } from './survey.ts';

export type Way = 'Loading' | 'Starting';

/** Why nothing may be made at all: what is there stays as it is. */
export const hindranceOf = (object: DeviceTemplate, asked: Revision, settings: DeviceSettings): Cause | undefined =>
  isNameless(object) ? nameless : forbidden(object, asked, settings);

const nameless: Cause = {
  reason: 'NameTooLong',
  message: `KMM puts the namespace and the name of a Module into labels of nodes, with at most ${longestModule} characters together: take a shorter name, or a namespace with a shorter one`,
  object: 'Module',
};

const missing: Cause = {
  reason: 'ModuleAPIMissing',
  message:
    'This cluster does not serve Modules: install Kernel Module Management (KMM); nothing else has to be done then',
  object: 'Module',
};

/** Whether enough nodes are ready: all, or all but one of several. */
const isEnough = ({ matching, ready }: Counts): boolean => matching > 0 && ready >= (matching > 1 ? matching - 1 : 1);

/** How many seconds a consumer that does not start may take. */
const patience = 600;

export function stageOf(
  object: DeviceTemplate,
  { survey, hindrance, seen, now }: { survey: Survey; hindrance: Cause | undefined; seen: Observed; now: number },
): Standing<Way> {
  const lasting = hindrance ?? (seen.serves(Module) ? nowhere(object, survey) : missing);
  if (lasting) return { stage: { name: 'Failed', cause: lasting } };
  const { counts, unmade } = survey;
  if (!isThere(seen.get(Module, moduleName(object)))) return { stage: { name: 'Loading', cause: awaited } };
  if (!counts) return { stage: { name: 'Loading', cause: uncounted } };
  if (isEnough(counts)) return { stage: { name: 'Ready', idle: false } };
  if (unmade)
    return bounded({ name: 'Starting', cause: unmade }, { since: undefined, late: undefined, seconds: 0, now });
  const [worst] = worstOf(survey);
  const name = counts.plugged > counts.ready ? 'Starting' : 'Loading';
  if (worst?.state !== 'Starting') return { stage: { name, cause: worst && causeOf(object, worst) } };
  const since = worst.pod?.metadata.creationTimestamp;
  return bounded({ name, cause: worst.cause }, { since, late: waiting(worst), seconds: patience, now });
}

const isThere = (module: Module | undefined): boolean =>
  module !== undefined && module.metadata.deletionTimestamp === undefined;

const awaited: Cause = {
  reason: 'ModuleNotLoaded',
  message:
    'The Module is not there yet; one of the same name that is being deleted goes first, when its devices are free',
  object: 'Module',
};

const uncounted: Cause = {
  reason: 'ModuleNotLoaded',
  message: 'KMM has not looked at the Module yet',
  object: 'Module',
};

/** No node that could become ready. */
function nowhere(object: DeviceTemplate, { counts, places, barred }: Survey): Cause | undefined {
  if (counts?.matching === 0) return nobody(object, barred);
  const isUnmapped = places.length > 0 && places.every(({ state }) => state === 'KernelNotMapped');
  return isUnmapped && places[0] ? causeOf(object, places[0]) : undefined;
}

const causeOf = (object: DeviceTemplate, place: Place): Cause => ({
  reason: place.state ?? 'Starting',
  message: placeWords(object, place),
  object: `Node ${place.node}`,
});
