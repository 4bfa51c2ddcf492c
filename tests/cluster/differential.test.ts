// Does the past leave traces? A Trio that was something else before must have the same children as one that was born so,
// field by field, and then nothing may be written any more: whatever the API server makes of what the builders say
// (defaults, rewritten quantities, dropped empty values) is no difference.

import { deepEqual } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { ConfigMap, Deployment, type KubeObject } from '../../src/objects/index.ts';
import { ready, type Rig, startRig } from '../kit/rig.ts';
import { Trio } from '../kit/trio/schema.ts';

const pairs = 12;
let rig: Rig;
before(async () => {
  rig = await startRig();
  await rig.operator();
});
after(() => rig.stop());

const word = fc.stringMatching(/^[a-z]([a-z0-9]{0,6}[a-z0-9])?$/);
const variable = fc.record({
  name: fc.constantFrom('A', 'B', 'C', 'D'),
  value: fc.constantFrom('', '0', 'x y', '$(A)', 'ümlaut'),
});
const spec = fc.record(
  {
    text: fc.string({ maxLength: 20 }),
    env: fc.uniqueArray(variable, { selector: ({ name }) => name, maxLength: 4 }),
    labels: fc.dictionary(fc.constantFrom('team', 'tier', 'example.com/zone'), word, { maxKeys: 3 }),
    replicas: fc.integer({ min: 0, max: 2 }),
    image: fc.constantFrom('server:1', 'server:2'),
    port: fc.oneof(fc.integer({ min: 1, max: 65535 }), word),
    memory: fc.constantFrom('16Mi', '0.5Gi', '1024Ki', '1e7', 16777216, '0'),
    paths: fc.uniqueArray(fc.constantFrom('/a', '/b', '/c'), { minLength: 1 }),
    podAnnotations: fc.dictionary(fc.constantFrom('note', 'other'), fc.string({ maxLength: 10 })),
    withJob: fc.constant(false),
  },
  { requiredKeys: ['text', 'withJob'] },
);

/** What one past leaves, without what is different in every life. */
async function childrenOf(namespace: string): Promise<unknown[]> {
  const children = [...(await rig.list(ConfigMap, namespace)), ...(await rig.list(Deployment, namespace))];
  return children.filter(({ metadata }) => metadata.name.startsWith('t-')).map(masked);
}

function masked(object: KubeObject): unknown {
  const { metadata, status: _status, ...rest } = object as KubeObject & { status?: unknown };
  const {
    'deployment.kubernetes.io/revision': _revision,
    'baton.dev/desired': _desired,
    ...annotations
  } = metadata.annotations ?? {};
  const { 'baton.dev/uid': _uid, ...labels } = metadata.labels ?? {};
  return { ...rest, metadata: { name: metadata.name, annotations, labels } };
}

async function live(pasts: object[]): Promise<string> {
  const namespace = await rig.namespace();
  for (const past of pasts) {
    // A user who replaces the whole object, so that what was left out is really gone.
    const held = await rig.get(Trio, namespace, 't');
    const object = {
      apiVersion: Trio.apiVersion,
      kind: Trio.kind,
      metadata: { ...held?.metadata, namespace, name: 't' },
      spec: past,
    } as Trio;
    await (held ? rig.admin.update(Trio, object) : rig.admin.create(Trio, object, { manager: 'user' }));
    await ready(rig, namespace, 't');
  }
  return namespace;
}

describe('the past leaves no traces', () => {
  const seed = Number(process.env['SEED'] ?? 20261116);
  const samples = fc.sample(fc.tuple(spec, spec), { numRuns: pairs, seed });

  test(`children after an edit are the children of a new object (${pairs} pairs, seed ${seed})`, async () => {
    const namespaces = await Promise.all(
      samples.map(async ([first, second]) => ({
        edited: await live([first, second]),
        born: await live([second]),
        samples: [first, second],
      })),
    );
    for (const { edited, born, samples: pasts } of namespaces) {
      const [found, expected] = [await childrenOf(edited), await childrenOf(born)];
      deepEqual(found, expected, `differs after ${JSON.stringify(pasts)}`);
    }
    const mark = rig.proxy.trace.mark();
    await pause(3_000);
    const written = rig.proxy.trace.writes().filter(({ seq }) => seq > mark);
    deepEqual(
      written.map(({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace}/${name}`),
      [],
    );
  });
});
