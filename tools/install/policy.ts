// Who may name which Secret: only those who may read it themselves. Without this, whoever may create a model could have
// a pod that they control be given any Secret of the namespace. The API server itself decides, by a policy in CEL; a
// reference that was there before is not asked about again, so others may edit the rest of the object.

import type { DefinedKind } from '../../src/schema/index.ts';
import { labels, type Manifest } from './place.ts';

/** A field of `spec` that names a Secret; `[]` stands for every entry of a list. */
export interface SecretField {
  path: string;
  /** How many different Secrets can be new in one edit by somebody who may read only some of the namespace's Secrets. */
  most: number;
}

/** Every field that names a Secret, by kind. An authorization check is dear, and a policy may do 28 of them. */
export const secretFields: Readonly<Record<string, readonly SecretField[]>> = {
  MLModel: [
    { path: 'credentials', most: 1 },
    { path: 'env[].secret.name', most: 8 },
    { path: 'imagePullSecrets[].name', most: 4 },
  ],
};

const apiVersion = 'admissionregistration.k8s.io/v1';

/** The policy of a kind and its binding; nothing for a kind that names no Secrets. */
export function secretPolicy({ definition }: DefinedKind): Manifest[] {
  const { group, version, kind, plural } = definition;
  const fields = secretFields[kind] ?? [];
  if (fields.length === 0) return [];
  const metadata = { name: `secrets.${plural}.${group}`, labels };
  const resources = [
    { apiGroups: [group], apiVersions: [version], operations: ['CREATE', 'UPDATE'], resources: [plural] },
  ];
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: resources },
    variables: [mayReadAll, ...fields.flatMap(variables)],
    validations: fields.flatMap(validations),
  };
  const binding = { policyName: metadata.name, validationActions: ['Deny'] };
  return [
    { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata, spec },
    { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: binding },
  ];
}

const secrets = "authorizer.group('').resource('secrets').namespace(request.namespace)";
const mayReadAll = { name: 'mayReadAll', expression: `${secrets}.check('get').allowed()` };

/** `env[].secret.name` is the list `env` and, in each entry, `secret.name`. */
const partsOf = (path: string): [list: string, inside: string] => {
  const [list = '', inside = ''] = path.split('[].');
  return [list, inside];
};

/** The variable with the Secrets that a field names and did not name before. */
const variableOf = (path: string): string => `new_${partsOf(path)[0]}`;

function variables({ path }: SecretField): { name: string; expression: string }[] {
  const [field, inside] = partsOf(path);
  const name = variableOf(path);
  if (inside === '') return [{ name, expression: freshName(field) }];
  // Several variables may take their value from one Secret: it is asked about once.
  const distinct = `variables.all_${name}.transformList(index, name, variables.all_${name}.indexOf(name) == index, name)`;
  return [
    { name: `all_${name}`, expression: freshEntries(field, inside) },
    { name, expression: distinct },
  ];
}

const before = (field: string): string => `oldObject != null && has(oldObject.spec.${field})`;

const freshName = (field: string): string =>
  `has(object.spec.${field}) && !(${before(field)} && oldObject.spec.${field} == object.spec.${field}) ? [object.spec.${field}] : []`;

/** An entry of which anything changed counts as new: another key of the same Secret is another secret. */
function freshEntries(field: string, inside: string): string {
  const steps = inside.split('.').slice(0, -1);
  const there = steps.map((_, index) => `has(one.${steps.slice(0, index + 1).join('.')})`);
  const known = `(${before(field)} && oldObject.spec.${field}.exists(old, old == one))`;
  const fresh = [...there, `!${known}`].join(' && ');
  return `has(object.spec.${field}) ? object.spec.${field}.filter(one, ${fresh}).map(one, one.${inside}) : []`;
}

interface Validation {
  expression: string;
  message?: string;
  messageExpression?: string;
  reason: 'Forbidden';
}

/** One check for each place in the list, because an expression cannot pay for more than two. */
function validations({ path, most }: SecretField): Validation[] {
  const names = `variables.${variableOf(path)}`;
  const each = Array.from({ length: most }, (_, index): Validation => {
    const check = `${secrets}.name(${names}[${index}]).check('get').allowed()`;
    return {
      expression: `${names}.size() <= ${index} || variables.mayReadAll || ${check}`,
      messageExpression: `'spec.${path}: you may not read Secret "' + ${names}[${index}] + '", so you may not name it: have yourself granted get on it, or ask somebody who may read it'`,
      reason: 'Forbidden',
    };
  });
  const message = `spec.${path}: more than ${most} Secrets are new at once: add them in several steps, or have yourself granted get on all Secrets of the namespace`;
  const enough: Validation = {
    expression: `${names}.size() <= ${most} || variables.mayReadAll`,
    message,
    reason: 'Forbidden',
  };
  return path.includes('[]') ? [enough, ...each] : each;
}
