import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { crdOf, type DefinedKind, type Structural } from '../../src/schema/index.ts';
import { productKinds } from '../product.ts';
import { secretPolicy, secretUse } from './policy.ts';

/** Every text below a schema whose description speaks of a Secret that it names. */
function namingSecrets(schema: Structural, path: string): string[] {
  const inside = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    namingSecrets(property, path === '' ? name : `${path}.${name}`),
  );
  const items = schema.items ? namingSecrets(schema.items, `${path}[]`) : [];
  const own = schema.type === 'string' && /\ba Secret\b|^A Secret|name of a Secret/.test(schema.description ?? '');
  return [...(own && !path.endsWith('.key') ? [path] : []), ...inside, ...items];
}

const specOf = (kind: DefinedKind): Structural =>
  crdOf(kind).spec.versions[0].schema.openAPIV3Schema.properties?.['spec'] ?? {};

for (const kind of productKinds)
  test(`every field of ${kind.kind} that names a Secret is in its policy`, () => {
    const listed = (secretUse[kind.kind]?.names ?? []).map(({ path }) => path);
    deepEqual(namingSecrets(specOf(kind), '').toSorted(), listed.toSorted());
  });

/** Fields that decide how many, how large, where and for whom, but neither what runs nor where anything is sent. */
const harmless: Readonly<Record<string, readonly string[]>> = {
  MLModel: [
    'storageSize',
    'replicas',
    'expose',
    'accessMode',
    'storageClassName',
    'retain',
    'rollout',
    'resources',
    'nodeSelector',
    'tolerations',
    'priorityClassName',
  ],
  ModelDeployment: [
    'replicas',
    'minReplicas',
    'maxReplicas',
    'target',
    'livenessProbeInitialDelay',
    'readinessProbeInitialDelay',
    'port',
    'healthPath',
    'rollout',
    'resources',
    'nodeSelector',
    'tolerations',
    'priorityClassName',
  ],
  DeviceTemplate: ['selector', 'maxdev', 'defaultmsg', 'requiredDevices', 'resourceName', 'tolerations'],
};

for (const kind of productKinds)
  test(`every field of ${kind.kind} is known to change what a Secret is used for, or to be harmless`, () => {
    const { names = [], uses = [] } = secretUse[kind.kind] ?? {};
    const naming = names.map(({ path }) => path.replace(/(\[\])?\..*/, '')).filter((field) => !uses.includes(field));
    const known = [...naming, ...uses, ...(harmless[kind.kind] ?? [])];
    deepEqual(Object.keys(specOf(kind).properties ?? {}).toSorted(), known.toSorted());
  });

test('a policy does no more authorization checks than the API server pays for', () => {
  const [cost, budget] = [350_000, 10_000_000];
  for (const kind of productKinds) {
    const checks = JSON.stringify(secretPolicy(kind)).split('.allowed()').length - 1;
    equal(checks * cost < budget * 0.9, true, `${kind.kind}: ${checks} checks`);
  }
});
