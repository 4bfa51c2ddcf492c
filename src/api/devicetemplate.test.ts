// What the schema of DeviceTemplates takes and refuses, as far as it says so by patterns. The rules are tried on an API server.

import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { crdOf, type Structural } from '../schema/index.ts';
import { DeviceTemplate } from './devicetemplate.ts';

/** The schema of a field; `[]` is an item of a list, `{}` an entry of a map. */
const nodeAt = (path: string): Structural =>
  path.split('.').reduce((node: Structural, step) => {
    const below = step === '[]' ? node.items : step === '{}' ? node.additionalProperties : node.properties?.[step];
    ok(below, path);
    return below;
  }, crdOf(DeviceTemplate).spec.versions[0].schema.openAPIV3Schema);

/** The expression that a text must match: the pattern, or that of a rule. */
function expressionOf({ pattern, 'x-kubernetes-validations': rules = [] }: Structural): RegExp {
  const [, told] = /^self\.matches\('(.*)'\)$/.exec(rules[0]?.rule ?? '') ?? [];
  return new RegExp(pattern ?? told ?? fail());
}

const fail = (): never => {
  throw new TypeError('it has none');
};

const digest = `@sha256:${'a'.repeat(64)}`;
const rows: { path: string; takes: string[]; refuses: string[] }[] = [
  { path: 'spec.driver.moduleName', takes: ['a', '_x-y'], refuses: ['', '-r', '--remove', 'a b'] },
  { path: 'spec.defaultmsg', takes: ['', 'x y', 'a=(b)&c'], refuses: ['"', "' max_dev=99"] },
  { path: 'spec.selector.{}', takes: ['', 'yes', 'a_b.C-1'], refuses: ['no blanks', '-a', 'a-'] },
  {
    path: 'spec.driver.kernels.[].kernel',
    takes: ['*', '6.*', '+*', '5.14.0-427.el9', '6.1.0+', '6.1.0+x', '6.1.0~rc1++'],
    refuses: ['', '+', '++', '**', '6.*.1', '(a+)+$'],
  },
  {
    path: 'spec.driver.kernels.[].image',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: KMM puts the kernel of each node there
    takes: ['a:1', 'a.example:5000/b:${KERNEL_FULL_VERSION}-sb', `a${digest}`, `a:1${digest}`],
    refuses: ['a', 'a.example:5000/b', 'a:', 'a:${HOME}'],
  },
];

for (const { path, takes, refuses } of rows)
  test(`${path} takes what can be followed`, () => {
    const expression = expressionOf(nodeAt(path));
    for (const text of takes) equal(expression.test(text), true, text);
    for (const text of refuses) equal(expression.test(text), false, text);
  });
