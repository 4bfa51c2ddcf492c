// What cannot be read from the cache of a DeviceTemplate: why nobody lets the DaemonSet make a pod, as where a namespace takes no
// privileged ones.

import type { DeviceTemplate } from '../../api/index.ts';
import { DaemonSet, type KubeEvent } from '../../objects/index.ts';
import { eventsOf } from '../../serving/index.ts';
import { consumerName } from './consumer.ts';

export type DeviceFacts = { makerEvents: KubeEvent[] };

export const gather = {
  makerEvents: eventsOf<DeviceTemplate>((object, seen) => {
    const consumers = seen.get(DaemonSet, consumerName(object));
    const { desiredNumberScheduled: desired = 0, currentNumberScheduled: current = 0 } = consumers?.status ?? {};
    return current < desired ? consumers : undefined;
  }),
};
