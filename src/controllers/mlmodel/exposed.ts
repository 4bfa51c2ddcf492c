// Whether a model is reached from outside, and where: what the cloud, the ingress controller or the gateway answered to the
// object that exposes it. Their refusals are told in their own words.

import type { MLModel } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import {
  balancerCause,
  type GivenAddress,
  HTTPRoute,
  Ingress,
  type KubeEvent,
  type LooseCondition,
  type ParentReference,
  Service,
} from '../../objects/index.ts';
import { type Exposure, type Hosted, hostOf } from './exposure.ts';
import { exposeName } from './network.ts';
import { type Verdict, verdict } from '../../serving/index.ts';

/** What is asked about. */
export interface Outside {
  model: MLModel;
  seen: Observed;
  exposure: Exposure;
  /** The port of the servers. */
  port: number;
  /** Whether a server answers. */
  answers: boolean;
  /** Events about a Service that gets no address. */
  events: readonly KubeEvent[];
}

/** Where it is reached, or why it is not; in the words of a condition. */
type Found = { at: string; url?: string } | { reason: string; message: string };

/** The condition `Exposed`, and the address, if it is more than a port of every node. */
export function exposedOf(outside: Outside): { verdict: Verdict; externalURL?: string } {
  const found = find(outside);
  if (!('at' in found)) return { verdict: verdict('Exposed', false, found.reason, found.message) };
  const answers = outside.answers ? 'answers' : 'will answer, once a server does,';
  const { by } = outside.exposure;
  const told = verdict('Exposed', true, by, `The model ${answers} ${found.at}`);
  return { verdict: told, ...(found.url !== undefined && { externalURL: found.url }) };
}

function find(outside: Outside): Found {
  const { model, exposure } = outside;
  if (!model.spec.expose) return { reason: 'NotAsked', message: 'The model is reachable inside the cluster only' };
  switch (exposure.by) {
    case 'NodePort':
      return byNodePort(outside);
    case 'LoadBalancer':
      return byLoadBalancer(outside);
    case 'Ingress':
      return byIngress(outside, exposure);
    case 'Gateway':
      return byGateway(outside, exposure);
  }
}

const waiting = (message: string): Found => ({ reason: 'Waiting', message });
const notMade = (kind: string, model: MLModel): Found => waiting(`${kind} ${exposeName(model)} is not made yet`);
const at = (url: string): Found => ({ at: `at ${url}`, url });

function byNodePort({ model, seen }: Outside): Found {
  const held = seen.get(Service, exposeName(model));
  if (!held) return notMade(Service.kind, model);
  const port = held.spec.ports?.[0]?.nodePort;
  return port === undefined ? waiting('Waiting for a port on the nodes') : { at: `on port ${port} of every node` };
}

/** The Service as it was before another way was set may still have its port, or its address. */
function byLoadBalancer({ model, seen, port, events }: Outside): Found {
  const held = seen.get(Service, exposeName(model));
  if (!held) return notMade(Service.kind, model);
  const [given] = held.spec.type === 'LoadBalancer' ? (held.status?.loadBalancer?.ingress ?? []) : [];
  const host = given && written(given);
  if (host !== undefined) return at(`http://${host}:${port}`);
  const cause = balancerCause(held, events);
  if (cause) return cause;
  return waiting(
    `Waiting for the address of Service ${exposeName(model)}: a load balancer of the cluster has to give one`,
  );
}

const written = ({ ip, hostname }: GivenAddress): string | undefined =>
  hostname ?? (ip?.includes(':') ? `[${ip}]` : ip);

/** The address is that of what is there: what is asked now may have been refused. */
function byIngress({ model, seen }: Outside, asked: Hosted): Found {
  const held = seen.get(Ingress, exposeName(model));
  if (!held) return notMade(Ingress.kind, model);
  const given = held.status?.loadBalancer?.ingress ?? [];
  const tls = (held.spec.tls ?? []).length > 0;
  if (given.length > 0) return at(urlOf(held.spec.rules?.[0]?.host ?? hostOf(model, asked), tls));
  return waiting(`Waiting for an ingress controller to take Ingress ${exposeName(model)} up and give it an address`);
}

const urlOf = (host: string, tls: boolean): string => `${tls ? 'https' : 'http'}://${host}`;

const apiMissing = {
  reason: 'GatewayAPIMissing',
  message:
    'The operator is set to expose models by a Gateway, but this cluster does not serve httproutes.gateway.networking.k8s.io/v1: install the Gateway API; it will be noticed',
};

function byGateway({ model, seen }: Outside, asked: Extract<Exposure, { by: 'Gateway' }>): Found {
  if (!seen.serves(HTTPRoute)) return apiMissing;
  const held = seen.get(HTTPRoute, exposeName(model));
  if (!held) return notMade(HTTPRoute.kind, model);
  const { gateway, tls } = asked;
  const name = `Gateway ${gateway.namespace}/${gateway.name}`;
  const words = wordsAbout(held, gateway);
  if (words.some(isTaken)) return at(urlOf(held.spec.hostnames?.[0] ?? hostOf(model, asked), tls));
  const refused = words.flat().find(isRefusal);
  if (refused) return refusal(name, refused);
  return words.some((told) => holds(told, 'Accepted'))
    ? waiting(`Waiting for ${name}, which takes HTTPRoute ${exposeName(model)}, to find what is behind it`)
    : waiting(`Waiting for ${name} to take HTTPRoute ${exposeName(model)} up`);
}

/** What is said of the route as it is now, by each controller that speaks for the Gateway: there may be several, and one is enough. */
const wordsAbout = (held: HTTPRoute, gateway: ParentReference): LooseCondition[][] =>
  (held.status?.parents ?? [])
    .filter(({ parentRef }) => isMeant(parentRef, gateway, held))
    .map(({ conditions = [] }) => conditions.filter((one) => isCurrent(one, held)));

const holds = (told: readonly LooseCondition[], asked: string): boolean =>
  told.some(({ type, status }) => type === asked && status === 'True');

/** The only rule of the route is taken as it is, and leads somewhere. */
const isTaken = (told: readonly LooseCondition[]): boolean =>
  holds(told, 'Accepted') && holds(told, 'ResolvedRefs') && !holds(told, 'PartiallyInvalid');

/** The words for each condition by which a gateway refuses, and the status in which it does. */
const refusals: Readonly<Record<string, { status: string; words: string }>> = {
  Accepted: { status: 'False', words: 'does not take the route' },
  ResolvedRefs: { status: 'False', words: 'does not find what is behind the route' },
  PartiallyInvalid: { status: 'True', words: 'leaves out a part of the route' },
};

const isRefusal = ({ type, status }: LooseCondition): boolean => refusals[type]?.status === status;

const refusal = (gateway: string, { type, reason, message }: LooseCondition): Found => ({
  reason: reason || 'RouteRefused',
  message: `${gateway} ${refusals[type]?.words}: ${message || 'no reason is given'}`,
});

/** A gateway may leave out of the reference what is clear without. */
const isMeant = (told: ParentReference, asked: ParentReference, { metadata }: HTTPRoute): boolean =>
  told.name === asked.name &&
  (told.namespace ?? metadata.namespace) === asked.namespace &&
  told.sectionName === asked.sectionName;

/** A word about an earlier generation is none about this one. */
const isCurrent = ({ observedGeneration }: LooseCondition, { metadata }: HTTPRoute): boolean =>
  observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
