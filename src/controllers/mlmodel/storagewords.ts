// What a person is told of the volume and the weights on it: how far they are, what was lost, and which wishes a volume
// that is there cannot follow.

import type { MLModel } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { expansionCause, PersistentVolumeClaim } from '../../objects/index.ts';
import { isNodeBound } from './pod.ts';
import type { Stage } from './stage.ts';
import { type Verdict, verdict } from '../../serving/index.ts';
import { mismatchOf } from './volume.ts';
import type { Plan } from './wanted.ts';

interface Told {
  model: MLModel;
  stage: Stage;
  plan: Plan;
  seen: Observed;
}

/** The conditions of storage; those that are no stage are there only while they hold. */
export function storageVerdicts(told: Told): Verdict[] {
  const { model, plan, seen } = told;
  const { source } = plan.asked;
  const claim = source.from === 'download' ? seen.get(PersistentVolumeClaim, source.claim) : undefined;
  return [
    storageReady(told, claim),
    downloaded(told),
    ...lost(plan),
    ...(claim ? unfollowed(model, claim, seen) : []),
    ...(isNodeBound(model, source) ? [verdict('NodeBound', true, model.spec.accessMode, nodeBoundWords)] : []),
    ...(model.spec.retain ? retained(source.from === 'download' ? [source.claim] : [], seen) : []),
  ];
}

const nodeBoundWords =
  'Only one node at a time can mount the volume, so all servers run there, and a drain of that node stops all of them until others have started elsewhere (minutes, if the scheduler tries them late); with accessMode ReadWriteMany they may spread';

/** Former weights stay, too. */
function retained(asked: readonly string[], seen: Observed): Verdict[] {
  const held = seen.all(PersistentVolumeClaim).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const names = [...new Set([...asked, ...held.map(({ metadata }) => metadata.name)])].toSorted();
  if (names.length === 0) return [];
  const [what, stay] = names.length === 1 ? ['volume', 'stays'] : ['volumes', 'stay'];
  return [verdict('Retained', true, 'Asked', `The ${what} ${names.join(', ')} ${stay} when the model is deleted`)];
}

function storageReady({ plan: { weights, asked }, stage }: Told, claim: PersistentVolumeClaim | undefined): Verdict {
  if (asked.source.from === 'image')
    return verdict('StorageReady', true, 'ImageVolume', 'No volume is needed: nodes mount the image of the weights');
  const bound = asked.source.from === 'claim' ? weights.at === 'ready' : claim?.status?.phase === 'Bound';
  const provided = weights.at === 'ready' || (bound && weights.at !== 'leaving');
  if (provided) return verdict('StorageReady', true, 'Provided', 'There is a volume for the weights');
  const cause = ('cause' in weights ? weights.cause : undefined) ?? (stage.name === 'Failed' ? stage.cause : undefined);
  return verdict(
    'StorageReady',
    false,
    cause?.reason ?? (weights.at === 'looking' ? 'LookingAtImage' : 'Binding'),
    cause?.message ??
      (weights.at === 'looking' ? 'The image tells what is needed' : 'Waiting for the volume to be bound'),
  );
}

function downloaded({ plan: { weights, asked }, stage }: Told): Verdict {
  if (asked.source.from === 'image')
    return verdict('Downloaded', true, 'ImageVolume', 'Every node that serves pulls the weights once, as an image');
  if (weights.at === 'ready') return verdict('Downloaded', true, 'Downloaded', 'The weights are there');
  const cause = weights.cause ?? (stage.name === 'Failed' ? stage.cause : undefined);
  return verdict(
    'Downloaded',
    false,
    cause?.reason ?? 'Downloading',
    cause?.message ?? 'The weights are not there yet',
  );
}

/** The servers were told to run what has no weights any more. */
function lost({ weights, asked, rollout }: Plan): Verdict[] {
  if (weights.at === 'ready' || asked.source.from === 'registry' || rollout.told !== asked.name) return [];
  const message =
    weights.cause?.message ?? 'The weights that were served are not there any more: they are fetched again';
  return [verdict('DataLost', true, weights.cause?.reason ?? 'WeightsGone', message)];
}

/** A size or a class that the volume cannot take on is not carried out, and that is said. */
function unfollowed(model: MLModel, claim: PersistentVolumeClaim, seen: Observed): Verdict[] {
  const mismatch = mismatchOf(model, claim, seen);
  const { storageClassName: kind, resources } = claim.spec;
  const held = resources?.requests?.storage;
  const { storageSize: size, storageClassName } = model.spec;
  const ignored = (reason: string, message: string) => [verdict('StorageChangeIgnored', true, reason, message)];
  switch (mismatch) {
    case 'smaller':
      return [
        verdict(
          'StorageShrinkIgnored',
          true,
          'VolumesDoNotShrink',
          `The volume keeps its ${held}; ${size} counts for the next revision of the weights`,
        ),
      ];
    case 'rigid':
      return ignored(
        'VolumeCannotGrow',
        `The volume keeps its ${held}, because class ${kind} does not grow volumes; ${size} counts for the next revision of the weights`,
      );
    case 'class':
      return ignored(
        'ClassIsFixed',
        `The volume stays in class ${kind}; ${storageClassName} counts for the next revision of the weights`,
      );
    case 'grows':
    case undefined: {
      const cause = expansionCause(claim);
      return cause ? ignored(cause.reason, cause.message) : [];
    }
  }
}
