// What a person is told of a DeviceTemplate. Same world, same words; of the nodes that are not ready the worst three are named.

import type { DeviceTemplate, DeviceTemplateStatus } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { type Cause, DaemonSet, Module } from '../../objects/index.ts';
import { commonStatusOf, outdatedVerdict, type Stage, type Verdict, verdict } from '../../serving/index.ts';
import { consumerName } from './consumer.ts';
import { moduleName } from './module.ts';
import { placeWords, untold } from './nodewords.ts';
import type { Revision } from './revision.ts';
import type { Way } from './stage.ts';
import { type Counts, type Survey, worstOf } from './survey.ts';

export interface Told {
  object: DeviceTemplate;
  stage: Stage<Way>;
  asked: Revision;
  survey: Survey;
  seen: Observed;
  outdated: boolean;
}

/** As many nodes are listed; all of them are counted. */
const mostListed = 1_000;

/** The whole status. */
export function statusOf(told: Told): DeviceTemplateStatus {
  const { object, stage, asked, survey, seen } = told;
  const [module, daemonSet] = [moduleName(object), consumerName(object)];
  return {
    ...commonStatusOf(object, { phase: stage.name, message: messageOf(told), verdicts: verdicts(told) }),
    ...(seen.get(Module, module) && { module }),
    ...(seen.get(DaemonSet, daemonSet) && { daemonSet }),
    revision: asked.name,
    ...(survey.counts && { nodes: survey.counts }),
    consumers: survey.places.slice(0, mostListed).map(({ node, state, cause, pod }) => ({
      node,
      state: cause?.reason ?? state ?? 'Starting',
      ...(pod && { pod: pod.metadata.name }),
    })),
  };
}

function messageOf({ object, stage, survey }: Told): string {
  const { counts } = survey;
  const cause = stage.name === 'Ready' ? undefined : stage.cause;
  if (cause && !isOfOneNode(cause)) return cause.message;
  if (!counts || (stage.name === 'Ready' && isWhole(counts))) return 'The consumers are ready on every node';
  const why = worstWords(object, survey) || untold(counts)?.message;
  return why ? `${readiness(counts)}: ${why}` : readiness(counts);
}

/** Whether nothing is on its way, by the consumers and by KMM. */
const isWhole = ({ matching, loaded, ready }: Counts): boolean => Math.min(loaded, ready) === matching;

/** Such a cause is told with those of other nodes. */
const isOfOneNode = ({ object }: Cause): boolean => /^(Node|Pod) /.test(object);

const readiness = ({ ready, matching }: Counts): string => `${ready} of ${matching} nodes are ready`;

/** The worst three nodes, and how many more there are. */
function worstWords(object: DeviceTemplate, survey: Survey): string {
  const worst = worstOf(survey);
  const named = worst.slice(0, 3).map((place) => placeWords(object, place));
  return [...named, ...(worst.length > 3 ? [`and ${worst.length - 3} more`] : [])].join('; ');
}

function verdicts(told: Told): Verdict[] {
  const { stage, survey, outdated } = told;
  const message = messageOf(told);
  const reason = stage.name === 'Ready' ? 'ConsumersReady' : (stage.cause?.reason ?? stage.name);
  return [
    verdict('Ready', stage.name === 'Ready', reason, message),
    reconciling(told, reason, message),
    verdict('Stalled', stage.name === 'Failed', reason, message),
    available(survey),
    ...stepsOf(survey),
    outdatedVerdict(outdated, 'DeviceTemplate', 'consumers'),
  ];
}

/** Also while the last of several nodes is on its way. */
function reconciling({ stage, survey: { counts } }: Told, reason: string, message: string): Verdict {
  if (stage.name !== 'Ready') return verdict('Reconciling', stage.name !== 'Failed', reason, message);
  const isDone = !counts || isWhole(counts);
  return verdict('Reconciling', !isDone, isDone ? reason : 'Scaling', message);
}

const available = ({ answering }: Survey): Verdict =>
  answering === 0
    ? verdict('Available', false, 'NothingServes', 'No consumer is ready')
    : verdict(
        'Available',
        true,
        'ConsumersReady',
        `${answering === 1 ? '1 consumer is' : `${answering} consumers are`} ready`,
      );

/** The stages, each on all nodes. */
function stepsOf({ counts }: Survey): Verdict[] {
  const { matching = 0, loaded = 0, plugged = 0, ready = 0 } = counts ?? {};
  const step = (type: string, count: number, what: string) => {
    const isDone = matching > 0 && count === matching;
    return verdict(type, isDone, isDone ? 'EveryNode' : 'NotEveryNode', `${count} of ${matching} nodes ${what}`);
  };
  return [
    step('ModuleLoaded', loaded, 'have loaded the module'),
    step('PluginReady', plugged, 'have a device plugin that is ready'),
    step('ConsumersReady', ready, 'have a consumer that is ready'),
  ];
}
