// Where a DeviceTemplate stands, and what holds it up. Who waits for KMM waits as long as KMM takes: nothing tells since when;
// a consumer that does not start has the time of its pod.

import type { DeviceTemplate } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { type Cause, longestModule, Module } from '../../objects/index.ts';
import { bounded, type Standing } from '../../serving/index.ts';
import { isNameless, moduleName } from './module.ts';
import { type DeviceSettings, forbidden } from './privilege.ts';
import type { Revision } from './revision.ts';
import { nobody, placeWords, selectorWords, untold } from './nodewords.ts';
import { patience, type Place, type Survey, unreadySince, waiting, worstOf } from './survey.ts';

export type Way = 'Loading' | 'Starting';

/** Why nothing may be made at all: what is there stays as it is. */
export const hindranceOf = (object: DeviceTemplate, asked: Revision, settings: DeviceSettings): Cause | undefined =>
  isNameless(object) ? nameless : forbidden(asked, settings);

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

/** How many nodes may fail: one of several is not an outage. */
const spare = (matching: number): number => (matching > 1 ? 1 : 0);

/** Whether this revision has taken over, and enough nodes are ready. */
const isRolledOut = ({ counts, places }: Survey): boolean =>
  counts !== undefined &&
  Math.min(counts.ready, counts.loaded) >= counts.matching - spare(counts.matching) &&
  !places.some(({ former }) => former);

export function stageOf(
  object: DeviceTemplate,
  { survey, hindrance, seen, now }: { survey: Survey; hindrance: Cause | undefined; seen: Observed; now: number },
): Standing<Way> {
  const lasting = hindrance ?? (seen.serves(Module) ? nowhere(object, survey) : missing);
  if (lasting) return { stage: { name: 'Failed', cause: lasting } };
  const { counts, unmade, places } = survey;
  if (!isThere(seen.get(Module, moduleName(object)))) return { stage: { name: 'Loading', cause: awaited } };
  if (!counts) return { stage: { name: 'Loading', cause: uncounted(object) } };
  if (isRolledOut(survey)) return { stage: { name: 'Ready', idle: false } };
  if (unmade)
    return bounded({ name: 'Starting', cause: unmade }, { since: undefined, late: undefined, seconds: 0, now });
  const [worst] = worstOf({ places: places.filter((place) => !isHeld(place)) });
  const name = counts.plugged > counts.ready ? 'Starting' : 'Loading';
  if (!worst) return { stage: { name, cause: untold(counts) } };
  if (worst.state !== 'Starting') return { stage: { name, cause: causeOf(object, worst) } };
  const since = worst.pod && unreadySince(worst.pod);
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

/** KMM leaves out a count of none, so that nobody can tell whether it has counted. */
const uncounted = (object: DeviceTemplate): Cause => ({
  reason: 'NoMatchingNodes',
  message: `KMM has found no node with the labels ${selectorWords(object)} yet: if that stays so, mend selector, or label nodes`,
  object: 'Module',
});

/** Not enough nodes that could become ready without a person. */
function nowhere(object: DeviceTemplate, { counts, places, barred }: Survey): Cause | undefined {
  if (counts?.matching === 0) return nobody(object, barred);
  const held = worstOf({ places: places.filter(isHeld) });
  const isSpared = held.length <= spare(places.length) && !held.some(({ former }) => former);
  return isSpared || !held[0] ? undefined : causeOf(object, held[0]);
}

/** Whether a node waits for a person. */
const isHeld = ({ state }: Place): boolean => state === 'KernelNotMapped' || state === 'OtherVersion';

const causeOf = (object: DeviceTemplate, place: Place): Cause => ({
  reason: place.state ?? 'Starting',
  message: placeWords(object, place),
  object: `Node ${place.node}`,
});
