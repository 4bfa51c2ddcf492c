import { equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { quantityOf, sameQuantity } from '../objects/index.ts';
import { difference } from './compare.ts';

const pod = (container: object, rest: object = {}) => ({
  spec: { template: { spec: { containers: [{ name: 'c', ...container }], ...rest } } },
});
const at = 'spec.template.spec.containers[c]';

const cases: { name: string; wanted: unknown; held: unknown; differs?: string }[] = [
  {
    name: 'server defaults are no difference',
    wanted: pod({ image: 'i' }),
    held: pod({ image: 'i', imagePullPolicy: 'Always' }, { dnsPolicy: 'ClusterFirst' }),
  },
  { name: 'a drifted field is', wanted: pod({ image: 'i' }), held: pod({ image: 'j' }), differs: `${at}.image` },
  {
    name: 'a removed env item is',
    wanted: pod({ env: [{ name: 'A', value: '1' }] }),
    held: pod({ env: [] }),
    differs: `${at}.env[A]`,
  },
  {
    name: 'an env item of somebody else is none',
    wanted: pod({ env: [{ name: 'A', value: '1' }] }),
    held: pod({
      env: [
        { name: 'X', value: '0' },
        { name: 'A', value: '1' },
      ],
    }),
  },
  {
    name: 'env items in another order are',
    wanted: pod({ env: [{ name: 'A' }, { name: 'B' }] }),
    held: pod({ env: [{ name: 'B' }, { name: 'A' }] }),
    differs: `${at}.env[B]`,
  },
  {
    name: 'a list without keys is one value',
    wanted: pod({ args: ['a'] }),
    held: pod({ args: ['a', 'b'] }),
    differs: `${at}.args`,
  },
  {
    name: 'a toleration more is a difference',
    wanted: pod({}, { tolerations: [{ key: 'a' }] }),
    held: pod({}, { tolerations: [{ key: 'a' }, { key: 'b' }] }),
    differs: 'spec.template.spec.tolerations',
  },
  {
    name: 'a label of somebody else is none',
    wanted: { metadata: { labels: { a: '1' } } },
    held: { metadata: { labels: { a: '1', b: '2' } } },
  },
  {
    name: 'a node selector entry of somebody else is one',
    wanted: pod({}, { nodeSelector: { a: '1' } }),
    held: pod({}, { nodeSelector: { a: '1', b: '2' } }),
    differs: 'spec.template.spec.nodeSelector.b',
  },
  {
    name: 'quantities are compared by value',
    wanted: pod({ resources: { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: 1 } } }),
    held: pod({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } } }),
  },
  {
    name: 'less than a thousandth of a resource is a thousandth to the server',
    wanted: pod({ resources: { limits: { cpu: '0.1m' }, requests: { cpu: '100u', memory: '1.0001' } } }),
    held: pod({ resources: { limits: { cpu: '1m' }, requests: { cpu: '1m', memory: '1001m' } } }),
  },
  {
    name: 'but other quantities it keeps as they are',
    wanted: { spec: { averageValue: '0.1m' } },
    held: { spec: { averageValue: '1m' } },
    differs: 'spec.averageValue',
  },
  {
    name: 'another quantity is a difference',
    wanted: pod({ resources: { limits: { cpu: '1' } } }),
    held: pod({ resources: { limits: { cpu: '1001m' } } }),
    differs: `${at}.resources.limits.cpu`,
  },
  {
    name: 'text that only looks like a quantity is not compared by value',
    wanted: { data: { size: '1000m' } },
    held: { data: { size: '1' } },
    differs: 'data.size',
  },
  {
    name: 'empty values that the server drops equal absence',
    wanted: pod(
      { env: [], args: [], volumeMounts: [], tty: false },
      { nodeSelector: {}, hostNetwork: false, serviceAccountName: '' },
    ),
    held: pod({}),
  },
  {
    name: 'a false that the server keeps does not equal absence',
    wanted: pod({ securityContext: { allowPrivilegeEscalation: false } }),
    held: pod({ securityContext: {} }),
    differs: `${at}.securityContext.allowPrivilegeEscalation`,
  },
  {
    name: 'zero replicas are not one',
    wanted: { spec: { replicas: 0 } },
    held: { spec: { replicas: 1 } },
    differs: 'spec.replicas',
  },
  {
    name: 'ports are matched by number and protocol',
    wanted: pod({ ports: [{ containerPort: 80 }] }),
    held: pod({
      ports: [
        { containerPort: 80, protocol: 'UDP' },
        { containerPort: 80, protocol: 'TCP' },
      ],
    }),
  },
  {
    name: 'an owner of somebody else is none',
    wanted: { metadata: { ownerReferences: [{ uid: 'u' }] } },
    held: { metadata: { ownerReferences: [{ uid: 'x' }, { uid: 'u' }] } },
  },
  {
    name: 'a lost owner is a difference',
    wanted: { metadata: { ownerReferences: [{ uid: 'u' }] } },
    held: { metadata: {} },
    differs: 'metadata.ownerReferences',
  },
];

describe('the apply comparison', () => {
  for (const { name, wanted, held, differs } of cases) test(name, () => equal(difference(wanted, held), differs));

  const scalar = fc.oneof(fc.string({ minLength: 1 }), fc.integer({ min: 1 }), fc.constant(true));
  const value = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      scalar,
      fc.dictionary(fc.stringMatching(/^[a-z]{3,6}$/), tie('tree')),
      fc.array(scalar, { maxLength: 3 }),
    ),
  })).tree;
  const object = fc.dictionary(fc.stringMatching(/^[a-z]{3,6}$/), value);

  test('everything holds itself', () => {
    fc.assert(fc.property(object, (wanted) => equal(difference(wanted, structuredClone(wanted)), undefined)));
  });

  test('whatever the server adds beside our fields is no difference', () => {
    fc.assert(
      fc.property(object, object, (wanted, extra) => equal(difference(wanted, deepMerge(extra, wanted)), undefined)),
    );
  });

  test('any one of our scalars that changed is found', () => {
    fc.assert(
      fc.property(object, fc.nat(), (wanted, pick) => {
        const paths = leaves(wanted);
        const path = paths[pick % Math.max(1, paths.length)];
        if (!path) return;
        const held = structuredClone(wanted);
        put(held, path, 'drifted away');
        equal(typeof difference(wanted, held), 'string');
      }),
    );
  });
});

describe('quantities', () => {
  for (const [a, b] of [
    ['1', '1000m'],
    ['1Gi', '1024Mi'],
    ['0.5', '500m'],
    ['1e3', '1k'],
    ['1.5Gi', '1536Mi'],
    ['100u', '0.1m'],
    ['+1', '1'],
    ['.5', '500m'],
  ] as const)
    test(`${a} is ${b}`, () => equal(sameQuantity(a, b), true));
  for (const text of ['', 'abc', '1Gb', '10 Gi', '1.2.3', '--1', 'e3', '1e9999'])
    test(`${text || 'nothing'} is no quantity`, () => equal(quantityOf(text), undefined));

  test('order of magnitude and sign are kept', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (a, b) => equal((quantityOf(a) ?? 0n) < (quantityOf(b) ?? 0n), a < b)),
    );
  });
});

type Tree = Record<string, unknown>;
const isTree = (node: unknown): node is Tree => typeof node === 'object' && node !== null && !Array.isArray(node);

function deepMerge(under: Tree, over: Tree): Tree {
  const merged: Tree = { ...under };
  for (const [key, node] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isTree(node) && isTree(below) ? deepMerge(below, node) : node;
  }
  return merged;
}

const leaves = (node: unknown, path: string[] = []): string[][] =>
  isTree(node) ? Object.entries(node).flatMap(([key, inner]) => leaves(inner, [...path, key])) : [path];

function put(node: Tree, path: string[], leaf: unknown): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) node[key] = leaf;
  else put(node[key] as Tree, rest, leaf);
}
