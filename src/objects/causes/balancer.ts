// Services that wait for an address: whoever provides load balancers tells its trouble in events only.

import { type KubeEvent, type Service } from '../builtin.ts';
import { type Cause, nameOf } from './cause.ts';
import { eventsAbout } from './events.ts';
import { sentence } from './words.ts';

/** Whether a Service asks for an address from outside and has none. */
export const waitsForAddress = ({ spec, status }: Service): boolean =>
  spec.type === 'LoadBalancer' && (status?.loadBalancer?.ingress ?? []).length === 0;

/** What keeps a Service from its address: the newest warning about it. */
export function balancerCause(service: Service, events: readonly KubeEvent[]): Cause | undefined {
  const warning = eventsAbout(service, events).find(({ type }) => type === 'Warning');
  if (!warning || !waitsForAddress(service)) return undefined;
  const object = nameOf(service);
  return { reason: 'LoadBalancerFailed', message: sentence(`${object} gets no address`, warning.message), object };
}
