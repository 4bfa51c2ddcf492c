// CEL rules, as far as they can be judged without running them: a rule speaks about `self`, has words for people, uses
// `oldSelf` only where the API server can find the old value, and points to fields that exist.

import { type CelRule, type Place, refuse, type Structural } from './structural.ts';

/** Reports what is wrong with the rules of a node; `correlated` tells whether the old value can be found there. */
export function checkRules(node: Structural, place: Place, correlated: boolean): void {
  for (const rule of node['x-kubernetes-validations'] ?? []) {
    const problem = ruleProblem(rule, correlated) ?? pointerProblem(rule, node);
    if (problem) refuse(place, `its rule "${rule.rule}" ${problem}`);
  }
}

function ruleProblem({ rule, message, optionalOldSelf }: CelRule, correlated: boolean): string | undefined {
  if (!message?.trim()) return 'has no message';
  if (message.includes('\n')) return 'has a message of several lines';
  if (!/\bself\b/.test(rule)) return 'says nothing about self';
  const compares = /\boldSelf\b/.test(rule);
  if (compares && !correlated) return 'uses oldSelf inside a list that is no list-map';
  return optionalOldSelf && !compares ? 'does not use the oldSelf that it calls optional' : undefined;
}

function pointerProblem({ fieldPath }: CelRule, node: Structural): string | undefined {
  if (fieldPath === undefined || namesField(node, fieldPath)) return undefined;
  return `points to ${fieldPath}, which does not exist`;
}

const step = /^(?:\.([A-Za-z_][\w-]*)|\['([^']+)'\]|\[([^\]]*)\])/;

/** Whether a JSONPath such as `.status.conditions[?(@.type=="Ready")].status` leads to something in the schema. */
export function namesField(node: Structural | undefined, path: string): boolean {
  if (!node) return false;
  if (path === '' || node['x-kubernetes-preserve-unknown-fields']) return true;
  const found = step.exec(path);
  if (!found) return false;
  const [text, name, quoted] = found;
  const key = name ?? quoted;
  const next = key === undefined ? node.items : (node.properties?.[key] ?? node.additionalProperties);
  return namesField(next, path.slice(text.length));
}
