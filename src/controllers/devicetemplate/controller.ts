// A DeviceTemplate: a Module tells KMM what to load where, and a DaemonSet runs consumers on the nodes of which KMM says that they
// are ready. Everything here is a pure function of what the cache saw.

import { DeviceTemplate, type DeviceTemplateStatus, mark, shortHash } from '../../api/index.ts';
import {
  apply,
  type ControllerDefinition,
  create,
  type Decision,
  defineController,
  type Desired,
  keep,
  type Observed,
  type Pass,
} from '../../kube/define.ts';
import { ControllerRevision, DaemonSet, Module, Node, Pod } from '../../objects/index.ts';
import { revisionObject } from '../../serving/index.ts';
import { consumerName, consumersOf } from './consumer.ts';
import { type DeviceFacts, gather } from './facts.ts';
import { moduleName, moduleOf } from './module.ts';
import type { DeviceSettings } from './privilege.ts';
import { askedRevision, isOutdated, type Revision } from './revision.ts';
import { hindranceOf, stageOf } from './stage.ts';
import { type Survey, surveyOf } from './survey.ts';
import { statusOf } from './words.ts';

/** One pass: where is it, what should exist, what do we say. */
export function decide(
  { object, seen, facts, now }: Pass<DeviceTemplate, DeviceFacts>,
  settings: DeviceSettings,
): Decision<DeviceTemplateStatus> {
  const asked = askedRevision(object, seen);
  const survey = surveyOf(object, asked, seen, facts);
  const hindrance = hindranceOf(object, asked, settings);
  const { stage, left } = stageOf(object, { survey, hindrance, seen, now });
  return {
    want: hindrance ? seen.all(ControllerRevision, Module, DaemonSet).map(keep) : wanted(object, asked, survey, seen),
    status: statusOf({ object, stage, asked, survey, seen, outdated: isOutdated(object, asked) }),
    ...(left !== undefined && { again: left }),
  };
}

/** All children, in the order of the writes. */
const wanted = (object: DeviceTemplate, asked: Revision, survey: Survey, seen: Observed): Desired[] => [
  create(revisionObject(object, asked)),
  ...(seen.serves(Module) ? [apply(moduleOf(object, asked.module))] : []),
  ...consumers(object, asked, survey, seen),
];

/** Consumers keep a module from being unloaded: they come when ours is there, and go when it is to go. */
function consumers(object: DeviceTemplate, asked: Revision, survey: Survey, seen: Observed): Desired[] {
  const module = seen.get(Module, moduleName(object));
  if (!module) return seen.all(DaemonSet).map(keep);
  if (module.metadata.deletionTimestamp !== undefined) return [];
  return [apply(consumersOf(object, asked.template)), ...formerConsumers(object, survey, seen)];
}

/** Consumers of another version stay on the nodes that are still told to load it. */
const formerConsumers = (object: DeviceTemplate, survey: Survey, seen: Observed): Desired[] =>
  seen
    .all(DaemonSet)
    .filter(({ metadata, status }) => {
      const version = metadata.labels?.[mark.version];
      if (version === undefined || metadata.name === consumerName(object)) return false;
      return survey.versions ? survey.versions.has(version) : hasNodes(status) || !isEverywhere(survey);
    })
    .map((former) => stay(object, former));

/** A DaemonSet has none also for the moment in which a plugin restarts: where nodes cannot be seen, that alone does not tell that it is over. */
const hasNodes = (status: DaemonSet['status']): boolean => (status?.desiredNumberScheduled ?? 0) > 0;

const isEverywhere = ({ counts }: Survey): boolean => counts !== undefined && counts.ready >= counts.matching;

/** As they are, but for the nodes that are meant: on all others they would keep KMM from unloading. */
function stay({ spec: { selector } }: DeviceTemplate, former: DaemonSet): Desired {
  const { template } = former.spec;
  if (shortHash(template.spec.nodeSelector ?? {}, 10) === shortHash(selector, 10)) return keep(former);
  const { apiVersion, kind } = DaemonSet;
  const { name, labels = {} } = former.metadata;
  const moved = { ...template, spec: { ...template.spec, nodeSelector: selector } };
  return apply({
    apiVersion,
    kind,
    metadata: { name, labels },
    spec: { ...former.spec, template: moved },
  } as DaemonSet);
}

/** An installation of KMM is noticed within this time. */
const awaited = 3_000;

/** The controller, with what the operator's configuration decides. */
export const deviceTemplateController = (
  settings: DeviceSettings,
): ControllerDefinition<DeviceTemplate, DeviceTemplateStatus, DeviceFacts> =>
  defineController({
    kind: DeviceTemplate,
    conditions: DeviceTemplate.definition.conditions ?? [],
    failedPhase: 'Failed',
    owns: [ControllerRevision, Module, DaemonSet],
    mayLack: [{ kind: Module, noticedWithin: awaited }],
    labelled: [Pod],
    reads: [Node],
    gather,
    decide: (pass) => decide(pass, settings),
  });
