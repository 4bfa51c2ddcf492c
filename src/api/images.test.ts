// Which names of images the schemas take, in every field that holds one. The rules are tried on an API server.

import { ok } from 'node:assert/strict';
import { test } from 'node:test';
import { crdOf, type DefinedKind, type Structural } from '../schema/index.ts';
import { DeviceTemplate } from './devicetemplate.ts';
import { MLModel } from './mlmodel.ts';
import { ModelDeployment } from './modeldeployment.ts';

const digest = `@sha256:${'a'.repeat(64)}`;
const taken = [
  'iris:1',
  'team/iris:1',
  'localhost/iris:1',
  'localhost:5000/iris:1',
  'REG:5000/models/iris__a-b.c:1',
  'Registry.example/team/i--r_i.s:1',
  '10.0.0.1:5000/iris:v1',
  `iris:${'v'.repeat(128)}`,
  `team/iris${digest}`,
  `registry.example/iris:1${digest}`,
];
const refused = [
  '',
  ' ',
  'Not An Image',
  `Team/model${digest}`,
  'Team/model:1',
  'registry.example/Iris:1',
  'registry.example/a..b:1',
  'registry.example/a___b:1',
  'registry.example/a._b:1',
  'registry..example/iris:1',
  '-registry.example/iris:1',
  'registry.example//iris:1',
  'iris:',
  'iris:-1',
  `iris:${'v'.repeat(129)}`,
  'iris@sha256:12',
];

const fields: [DefinedKind, string][] = [
  [ModelDeployment, 'spec.image'],
  [MLModel, 'spec.server.image'],
  [DeviceTemplate, 'spec.consumer'],
  [DeviceTemplate, 'spec.driver.kernels.[].image'],
];

for (const [kind, path] of fields)
  test(`${kind.kind} takes at ${path} what a node can pull, and nothing else`, () => {
    const takes = ruleAt(kind, path);
    for (const name of taken) ok(takes.test(name), `"${name}" is refused`);
    for (const name of refused) ok(!takes.test(name), `"${name}" is taken`);
  });

/** The expression in the rule of a field. */
function ruleAt(kind: DefinedKind, path: string): RegExp {
  const node = path.split('.').reduce((schema: Structural, step) => {
    const below = step === '[]' ? schema.items : schema.properties?.[step];
    ok(below, path);
    return below;
  }, crdOf(kind).spec.versions[0].schema.openAPIV3Schema);
  const [, told] = /^self\.matches\('(.*)'\)$/.exec(node['x-kubernetes-validations']?.[0]?.rule ?? '') ?? [];
  ok(told, `${path} has no rule`);
  return new RegExp(told);
}
