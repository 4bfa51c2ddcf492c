// A revision of a DeviceTemplate: the Module and the consumers as they were rendered when they were asked for, so that another
// operator, with other images or another hand, restarts nothing.

import type { DeviceTemplate } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import type { Module, PodTemplate } from '../../objects/index.ts';
import { nextNumber, revisionHash, revisionsIn, sameRendered, type Stored } from '../../serving/index.ts';
import { spelled } from './asked.ts';
import { consumerPods } from './consumer.ts';
import { moduleSpec } from './module.ts';

export interface Revision extends Stored {
  module: Module['spec'];
  template: PodTemplate;
}

/** What a person can see of a change: all of it, but for the spelling. */
export const revisionName = ({ spec, metadata }: DeviceTemplate): string => revisionHash(spelled(spec), metadata);

/** The revision that is asked for: the stored one, or one cut now. */
export function askedRevision(object: DeviceTemplate, seen: Observed): Revision {
  const name = revisionName(object);
  return revisionsIn<Revision>(seen).find((one) => one.name === name) ?? cut(object, nextNumber(seen));
}

/** A revision as this operator would render it today. */
export const cut = (object: DeviceTemplate, number: number): Revision => ({
  name: revisionName(object),
  number,
  module: moduleSpec(object),
  template: consumerPods(object),
});

/** Whether this operator would render it in another way. */
export const isOutdated = (object: DeviceTemplate, { number, module, template }: Revision): boolean => {
  const today = cut(object, number);
  return !sameRendered([today.module, today.template], [module, template]);
};
