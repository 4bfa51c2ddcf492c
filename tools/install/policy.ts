// Who may name which Secret: only those who may read it themselves. Without this, whoever may create a model could have
// a pod that they control be given any Secret of the namespace. The API server itself decides, by a policy in CEL. A
// reference that was there before is asked about again only when the edit changes what the Secret is used for: where it
// is sent, or what runs with it. So others may scale the model and edit the rest of it.

import type { DefinedKind } from '../../src/schema/index.ts';
import { labels, type Manifest } from './place.ts';

/** A field of `spec` that names a Secret; `[]` stands for every entry of a list, `.name` behind a field for an object with a name. */
export interface SecretField {
  path: string;
  /** How many different Secrets are asked about one by one, for somebody who may read only some of the namespace's Secrets. */
  most: number;
}

/** How a kind uses Secrets. */
export interface SecretUse {
  /** Every field that names one. An authorization check is dear, and a policy may do 28 of them. */
  names: readonly SecretField[];
  /** Every field that decides what becomes of them: where a pod takes its data, and what runs in it. */
  uses: readonly string[];
}

export const secretUse: Readonly<Record<string, SecretUse>> = {
  MLModel: {
    names: [
      { path: 'credentials', most: 1 },
      { path: 'env[].secret.name', most: 12 },
      { path: 'imagePullSecrets[].name', most: 8 },
    ],
    uses: [
      'modelURL',
      'digest',
      'framework',
      'server',
      'env',
      'serviceAccountName',
      'runtimeClassName',
      'podLabels',
      'podAnnotations',
    ],
  },
  ModelDeployment: {
    names: [
      { path: 'env[].secret.name', most: 12 },
      { path: 'imagePullSecrets[].name', most: 8 },
    ],
    uses: ['image', 'env', 'serviceAccountName', 'runtimeClassName', 'podLabels', 'podAnnotations', 'annotations'],
  },
  DeviceTemplate: {
    names: [
      { path: 'imagePullSecret.name', most: 1 },
      { path: 'imageRepoSecret.name', most: 1 },
    ],
    uses: ['consumer', 'consumerimage', 'plugin', 'deviceplugin', 'driver', 'privileged'],
  },
};

const apiVersion = 'admissionregistration.k8s.io/v1';

/** The policy of a kind and its binding; nothing for a kind that names no Secrets. */
export function secretPolicy({ definition }: DefinedKind): Manifest[] {
  const { group, version, kind, plural } = definition;
  const use = secretUse[kind];
  if (!use) return [];
  const metadata = { name: `secrets.${plural}.${group}`, labels };
  const resources = [
    { apiGroups: [group], apiVersions: [version], operations: ['CREATE', 'UPDATE'], resources: [plural] },
  ];
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: resources },
    variables: [mayReadAll, changed(use.uses), ...use.names.flatMap(variables)],
    validations: use.names.flatMap(validations),
  };
  const binding = { policyName: metadata.name, validationActions: ['Deny'] };
  return [
    { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata, spec },
    { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: binding },
  ];
}

interface Variable {
  name: string;
  expression: string;
}

const secrets = "authorizer.group('').resource('secrets').namespace(request.namespace)";
const mayReadAll: Variable = { name: 'mayReadAll', expression: `${secrets}.check('get').allowed()` };

/** The fields of which an edit changes what Secrets are used for. */
function changed(uses: readonly string[]): Variable {
  const each = uses.map((field) => `(object.spec.?${field} == oldObject.spec.?${field} ? [] : ['spec.${field}'])`);
  return { name: 'changed', expression: `oldObject == null ? [] : ${each.join(' + ')}` };
}

/** `env[].secret.name` is the list `env` and, in each entry, `secret.name`. */
const partsOf = (path: string): [field: string, inside: string] => {
  const [field = '', inside = ''] = path.split(/(?:\[\])?\.(.*)/);
  return [field, inside];
};

/** The Secrets that a field of this object names, as a list. */
function namesIn(object: 'object' | 'oldObject', path: string): string {
  const [field, inside] = partsOf(path);
  const there = `has(${object}.spec.${field})`;
  if (!path.includes('[]')) return `${there} ? [${object}.spec.${path}] : []`;
  const steps = inside.split('.').slice(0, -1);
  const full = steps.map((_, index) => `has(one.${steps.slice(0, index + 1).join('.')})`).join(' && ');
  const entries = `${object}.spec.${field}${full === '' ? '' : `.filter(one, ${full})`}`;
  return `${there} ? ${entries}.map(one, one.${inside}) : []`;
}

/** For a field the Secrets that it named, those that it names, and those that somebody must be able to read, each once. */
function variables({ path }: SecretField): Variable[] {
  const [field] = partsOf(path);
  const fresh = `(variables.changed.size() > 0 || !(name in variables.old_${field}))`;
  const first = `variables.all_${field}.indexOf(name) == index`;
  return [
    { name: `old_${field}`, expression: `oldObject == null ? [] : (${namesIn('oldObject', path)})` },
    { name: `all_${field}`, expression: namesIn('object', path) },
    {
      name: `asked_${field}`,
      expression: `variables.all_${field}.transformList(index, name, ${first} && ${fresh}, name)`,
    },
  ];
}

interface Validation {
  expression: string;
  message?: string;
  messageExpression?: string;
  reason: 'Forbidden';
}

/** One check for each place in the list, because an expression cannot pay for more than two. */
function validations({ path, most }: SecretField): Validation[] {
  const [field] = partsOf(path);
  const names = `variables.asked_${field}`;
  const each = Array.from({ length: most }, (_, index): Validation => {
    const check = `${secrets}.name(${names}[${index}]).check('get').allowed()`;
    return {
      expression: `${names}.size() <= ${index} || variables.mayReadAll || ${check}`,
      messageExpression: refusal(path, `${names}[${index}]`),
      reason: 'Forbidden',
    };
  });
  if (!path.includes('[]')) return each;
  const message = `spec.${path}: more than ${most} Secrets are too many to be checked one by one: have yourself granted get on all Secrets of the namespace, or ask somebody who may read them`;
  return [{ expression: `${names}.size() <= ${most} || variables.mayReadAll`, message, reason: 'Forbidden' }, ...each];
}

/** Says which field names the Secret, what may not be done, and the ways out. */
function refusal(path: string, name: string): string {
  const kept = `${name} in variables.old_${partsOf(path)[0]}`;
  const change = `'change ' + variables.changed.join(', ') + ' while it is named'`;
  return `'spec.${path}: you may not read Secret "' + ${name} + '", so you may not ' + (${kept} ? ${change} : 'name it') + ': have yourself granted get on it, or ask somebody who may read it'`;
}
