// Least privilege, measured: what the operator was allowed and used over a whole run of the suites, against what its roles
// grant. A right that nothing uses is taken away, or stands here with its reason.

import { productKinds } from '../product.ts';
import { isByOurRole, type Recorded } from './request.ts';

/** A rule of a Role. */
export interface GrantedRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

const ownership = 'asked for by clusters that check blockOwnerDeletion (OwnerReferencesPermissionEnforcement)';

/** Rights that no run can use, each with its reason. */
export const exceptions: Readonly<Record<string, string>> = Object.fromEntries(
  productKinds.map(({ definition: { plural, group } }) => [`update ${plural}/finalizers.${group}`, ownership]),
);

/** The rights that a request used. An apply that makes its object needs the right to create as well. */
export function usedBy(request: Recorded): string[] {
  const { verb, objectRef, responseStatus } = request;
  if (!objectRef || !isByOurRole(request)) return [];
  const { resource, subresource, apiGroup } = objectRef;
  const verbs = verb === 'patch' && responseStatus?.code === 201 ? ['patch', 'create'] : [verb];
  return verbs.map((one) => wordsOf(one, subresource ? `${resource}/${subresource}` : resource, apiGroup));
}

/** The rights that roles grant. */
export const grantedBy = (rules: readonly GrantedRule[]): string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => wordsOf(verb, resource, group)))),
  );

const wordsOf = (verb: string, resource: string, group = ''): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}`;

/** What is wrong, one text each: granted and never used, or an exception that is none. */
export function unused(granted: ReadonlySet<string>, used: ReadonlySet<string>, excepted: readonly string[]): string[] {
  const idle = [...granted].filter((right) => !used.has(right) && !excepted.includes(right));
  const stale = excepted.filter((right) => used.has(right) || !granted.has(right));
  return [
    ...idle.map((right) => `granted and never used: ${right} (take it away, or let a test use it)`),
    ...stale.map((right) => `used, or not granted, and yet an exception: ${right}`),
  ];
}
