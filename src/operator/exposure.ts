// How the operator is set to reach the outside, put together from the settings about it. What a way needs and nobody set, and
// what is set and has no effect, is told before anything starts.

import type { Exposure } from '../controllers/mlmodel/index.ts';
import { type Form, object, type Read } from './forms.ts';

/** The settings that say how a model is exposed. */
export interface ExposureSettings {
  exposure: Exposure['by'];
  exposureDomain: string | undefined;
  exposureTls: boolean;
  exposureAnnotations: Readonly<Record<string, string>>;
  ingressClass: string | undefined;
  gateway: GatewayName | undefined;
}

/** A Gateway, and one of its listeners. */
export interface GatewayName {
  namespace: string;
  name: string;
  sectionName?: string;
}

/** The way to the outside, or what is missing for it, or has no effect with it. */
export function exposureFrom(settings: ExposureSettings): Read<Exposure> {
  const found = wayFrom(settings);
  const idle = idleIn(settings);
  return 'wrong' in found || idle === undefined ? found : { wrong: idle };
}

/** The ways for which a setting is there. */
const purposes = {
  exposureDomain: ['Ingress', 'Gateway'],
  exposureTls: ['Ingress', 'Gateway'],
  ingressClass: ['Ingress'],
  gateway: ['Gateway'],
} as const satisfies Partial<Record<keyof ExposureSettings, readonly Exposure['by'][]>>;

function idleIn(settings: ExposureSettings): string | undefined {
  const { exposure } = settings;
  const keys = Object.keys(purposes) as (keyof typeof purposes)[];
  const idle = keys.find((key) => settings[key] && !purposes[key].some((by) => by === exposure));
  if (idle === undefined) return undefined;
  return `${idle} has no effect with exposure ${exposure}: remove it, or set exposure to ${purposes[idle].join(' or ')}`;
}

function wayFrom(settings: ExposureSettings): Read<Exposure> {
  const { exposure: by, exposureDomain: domain, exposureTls: tls, exposureAnnotations: annotations } = settings;
  const { ingressClass, gateway } = settings;
  if (by === 'NodePort' || by === 'LoadBalancer') return { value: { by, annotations } };
  if (domain === undefined)
    return { wrong: `exposure ${by} needs exposureDomain: a model is reached at name.namespace.DOMAIN` };
  if (by === 'Ingress')
    return { value: { by, annotations, domain, tls, ...(ingressClass !== undefined && { className: ingressClass }) } };
  if (gateway === undefined) return { wrong: 'exposure Gateway needs gateway: NAMESPACE/NAME of the Gateway to use' };
  return { value: { by, annotations, domain, tls, gateway } };
}

const label = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';
const subdomain = new RegExp(`^${label}([.]${label})*$`);
const longestName = 253;

/** With the name and the namespace of a model, which have up to 63 characters each, in front of it, it is still a host. */
const longestDomain = longestName - 2 * 64;

/** The domain under which models have their hosts. */
export const domain: Form<string> = {
  written: 'DOMAIN',
  read: (given) =>
    typeof given === 'string' && subdomain.test(given) && given.length <= longestDomain
      ? { value: given }
      : { wrong: `must be a domain like models.example.com, of at most ${longestDomain} characters` },
};

/** The name of an IngressClass, as the API server takes it. */
export const className: Form<string> = {
  written: 'NAME',
  read: (given) =>
    typeof given === 'string' && subdomain.test(given) && given.length <= longestName
      ? { value: given }
      : { wrong: 'must be the name of an IngressClass, as `kubectl get ingressclasses` shows it' },
};

const gatewayName = new RegExp(`^(${label})/(${label}([.]${label})*)(?:/(${label}([.]${label})*))?$`);

/** `namespace/name`, or `namespace/name/listener`. */
export const gatewayForm: Form<GatewayName> = {
  written: 'NAMESPACE/NAME[/LISTENER]',
  read(given) {
    const [namespace = '', name = '', sectionName] = String(given).split('/');
    if (!gatewayName.test(String(given))) return { wrong: 'must be NAMESPACE/NAME or NAMESPACE/NAME/LISTENER' };
    return { value: { namespace, name, ...(sectionName !== undefined && { sectionName }) } };
  },
};

/** A key is a name, perhaps behind a domain. In annotations the case of the domain is free. */
function isKey(key: string): boolean {
  const [name = '', domainOf, ...more] = key.split('/').toReversed();
  const hasDomain =
    domainOf === undefined || (subdomain.test(domainOf.toLowerCase()) && domainOf.length <= longestName);
  return more.length === 0 && hasDomain && /^[a-z0-9]([-._a-z0-9]{0,61}[a-z0-9])?$/i.test(name);
}

/** Annotations; a number or a switch must be quoted, as in every manifest. */
export const annotations = object<Readonly<Record<string, string>>>('YAML', (given) => {
  const key = Object.keys(given).find((one) => !isKey(one));
  if (key !== undefined)
    return { wrong: `"${key}" is no key of an annotation: one is like example.com/scheme, without blanks` };
  const wrong = Object.entries(given).find(([, value]) => typeof value !== 'string');
  if (wrong) return { wrong: `${wrong[0]}: must be a text` };
  return { value: given as Record<string, string> };
});
