// What no Deployment, Job or DaemonSet takes of the pod fields is refused in the object itself, with the field and the way out: a
// child that is refused later keeps its parent from being scaled, too. Deployments with the same values say the same here.

import { equal, match, notEqual } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Answer, type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { DeviceTemplate, MLModel, ModelDeployment } from '../../src/api/index.ts';
import type { Kind } from '../../src/objects/index.ts';
import { crdOf } from '../../src/schema/index.ts';
import { eventually } from '../kit/eventually.ts';
import { kindsOf, product } from '../kit/rig.ts';

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane({ controllers: 'none', kinds: kindsOf(product) });
});
after(() => plane?.stop());

const dryRun = (path: string, body: unknown): Promise<Answer> =>
  plane.request({ method: 'POST', path: `${path}?dryRun=All&fieldValidation=Strict`, body });

const said = ({ status, body }: Answer): string => (status < 300 ? 'taken' : (body as { message: string }).message);

const weights = { modelURL: 'https://models.example/iris', storageSize: '1Gi', framework: 'onnx' };
const asking = [
  { kind: MLModel, base: weights },
  { kind: ModelDeployment, base: { image: 'registry.example/models/iris:1' } },
];

/** What an object of ours with these fields hears. */
async function heard({ apiVersion, kind, plural }: Kind, spec: object) {
  const path = `/apis/${apiVersion}/namespaces/default/${plural}`;
  return said(await dryRun(path, { apiVersion, kind, metadata: { name: 'a' }, spec }));
}

interface Fields {
  podLabels?: object;
  podAnnotations?: object;
  resources?: object;
  nodeSelector?: object;
  tolerations?: object[];
  env?: { name: string; secret: { name: string; key: string } }[];
}

/** What a Deployment hears whose pods have these fields. */
async function heardByDeployment({ podLabels, podAnnotations: annotations, resources, env = [], ...pod }: Fields) {
  const labels = { ...podLabels, app: 'a' };
  const variables = env.map(({ name, secret: secretKeyRef }) => ({ name, valueFrom: { secretKeyRef } }));
  const containers = [{ name: 'a', image: 'a', env: variables, ...(resources && { resources }) }];
  const template = { metadata: { labels, ...(annotations && { annotations }) }, spec: { ...pod, containers } };
  const spec = { selector: { matchLabels: { app: 'a' } }, template };
  const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec };
  return said(await dryRun('/apis/apps/v1/namespaces/default/deployments', body));
}

const secretly = (key: string): Fields => ({ env: [{ name: 'A', secret: { name: 'a', key } }] });

const refused: [fields: Fields, words: RegExp][] = [
  [{ nodeSelector: { 'no blanks': 'x' } }, /spec\.nodeSelector: .*labels as keys, such as/],
  [{ nodeSelector: { a: 'a b' } }, /spec\.nodeSelector\.a: /],
  [{ podLabels: { 'a/b/c': 'x' } }, /spec\.podLabels: .*labels as keys, such as/],
  [{ podLabels: { a: '-b' } }, /spec\.podLabels\.a: /],
  [{ podAnnotations: { 'no blanks': 'x' } }, /spec\.podAnnotations: .*names of annotations as keys, such as/],
  [{ tolerations: [{ key: 'no blanks' }] }, /spec\.tolerations\[0\]\.key: .*the key of a taint, such as/],
  [{ tolerations: [{ key: 'a', value: 'a b' }] }, /spec\.tolerations\[0\]\.value: /],
  [{ tolerations: [{}] }, /spec\.tolerations\[0\]\.operator: .*must be Exists/],
  [{ tolerations: [{ key: '', operator: 'Equal' }] }, /spec\.tolerations\[0\]\.operator: .*must be Exists/],
  [{ tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] }, /spec\.tolerations\[0\]\.value: .*left out/],
  [{ tolerations: [{ key: 'a', tolerationSeconds: 5 }] }, /spec\.tolerations\[0\]\.tolerationSeconds: .*NoExecute/],
  [
    { tolerations: [{ key: 'a', effect: 'NoSchedule', tolerationSeconds: 5 }] },
    /spec\.tolerations\[0\]\.tolerationSeconds: .*NoExecute/,
  ],
  [{ resources: { requests: { cpu: 2 }, limits: { cpu: 1 } } }, /spec\.resources\.requests: .*greater than limits/],
  [
    { resources: { requests: { memory: '1Gi' }, limits: { memory: '1G' } } },
    /spec\.resources\.requests: .*greater than limits/,
  ],
  [{ resources: { limits: { cpu: '-1' } } }, /spec\.resources\.limits\.cpu: /],
  [{ resources: { requests: { cpu: -1 } } }, /spec\.resources\.requests\.cpu: /],
  [{ resources: { requests: { cpus: '1' } } }, /spec\.resources\.requests: .*resources as keys: cpu/],
  [{ resources: { limits: { 'no blanks/b': '1' } } }, /spec\.resources\.limits: .*resources as keys: cpu/],
  [{ resources: { requests: { 'example.com/gpu': 1 } } }, /spec\.resources\.requests: .*name them in limits/],
  [
    { resources: { requests: { 'hugepages-2Mi': '2Mi' }, limits: { 'hugepages-2Mi': '4Mi' } } },
    /spec\.resources\.requests: .*name them in limits/,
  ],
  [secretly('no/slash'), /spec\.env\[0\]\.secret\.key: /],
  [secretly('.'), /spec\.env\[0\]\.secret\.key: /],
  [secretly('..a'), /spec\.env\[0\]\.secret\.key: /],
];

const taken: Fields[] = [
  { nodeSelector: { 'kubernetes.io/os': 'linux', 'example.com/Disk_1.x': '' } },
  { podLabels: { [`example.com/${'k'.repeat(63)}`]: 'v'.repeat(63) } },
  { podAnnotations: { 'Example.com/Note': 'whatever, with blanks' } },
  { tolerations: [{ operator: 'Exists' }, { key: '', operator: 'Exists', effect: 'NoExecute' }] },
  { tolerations: [{ key: 'a' }, { key: 'example.com/a', operator: 'Equal', value: 'B.c' }] },
  { tolerations: [{ key: 'a', operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds: 0 }] },
  { resources: { requests: { cpu: '1000m', memory: '1Gi' }, limits: { cpu: 1, memory: '1.1G' } } },
  { resources: { requests: { cpu: 2 }, limits: { memory: '1Gi', 'ephemeral-storage': '1Gi' } } },
  { resources: { requests: { 'example.com/gpu': 1, cpu: 1 }, limits: { 'example.com/gpu': '1' } } },
  { resources: { requests: { cpu: 1, 'hugepages-2Mi': '2048Ki' }, limits: { 'hugepages-2Mi': '2Mi' } } },
  ...['token', '.dockerconfigjson', '-a..b_C', '0'].map(secretly),
];

for (const { kind, base } of asking)
  describe(`the pod fields of ${kind.kind}`, () => {
    for (const [fields, words] of refused)
      test(`are refused: ${JSON.stringify(fields)}`, async () =>
        match(await heard(kind, { ...base, ...fields }), words));

    for (const fields of taken)
      test(`are taken: ${JSON.stringify(fields)}`, async () =>
        equal(await heard(kind, { ...base, ...fields }), 'taken'));
  });

describe('a Deployment', () => {
  for (const [fields] of refused)
    test(`would not take ${JSON.stringify(fields)} either`, async () =>
      notEqual(await heardByDeployment(fields), 'taken'));

  for (const fields of taken)
    test(`takes ${JSON.stringify(fields)}, too`, async () => equal(await heardByDeployment(fields), 'taken'));
});

test('annotations of a ModelDeployment, and tolerations of a DeviceTemplate, are looked at in the same way', async () => {
  const annotated = { image: 'registry.example/models/iris:1', annotations: { 'no blanks': 'x' } };
  match(await heard(ModelDeployment, annotated), /spec\.annotations: .*names of annotations as keys/);
  const tolerant = { selector: { a: 'b' }, tolerations: [{ operator: 'Exists', value: 'x' }] };
  match(await heard(DeviceTemplate, tolerant), /spec\.tolerations\[0\]\.value: .*left out/);
});

describe('what was stored before its rules', () => {
  const { apiVersion, kind, plural } = ModelDeployment;
  const path = `/apis/${apiVersion}/namespaces/default/${plural}`;
  const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.baton.dev`;
  const fields = Object.assign({}, ...refused.map(([one]) => one)) as Fields;
  const image = 'registry.example/models/iris:1';
  const stored = { apiVersion, kind, metadata: { name: 'stored' }, spec: { image, replicas: 1, ...fields } };

  const replaceSchema = async (schema: object): Promise<void> => {
    const body = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: schema }];
    const answer = await plane.request({ method: 'PATCH', path: definition, body, ...jsonPatch });
    equal(said(answer), 'taken');
  };
  const patch = (body: object, below = '') =>
    plane.request({ method: 'PATCH', path: `${path}/stored${below}`, body, ...mergePatch });

  before(async () => {
    const { openAPIV3Schema } = crdOf(ModelDeployment).spec.versions[0].schema;
    await replaceSchema(withoutChecks(openAPIV3Schema));
    await eventually(async () => said(await plane.request({ method: 'POST', path, body: stored })) === 'taken');
    await replaceSchema(openAPIV3Schema);
    await eventually(async () => said(await dryRun(path, stored)) !== 'taken', { what: 'the rules count' });
  });

  test('is scaled, judged and edited elsewhere', async () => {
    equal(said(await patch({ spec: { replicas: 2 } }, '/scale')), 'taken');
    equal(said(await patch({ status: { phase: 'Failed' } }, '/status')), 'taken');
    equal(said(await patch({ spec: { port: 8080 } })), 'taken');
  });

  test('can be mended field by field, and not made worse', async () => {
    match(said(await patch({ spec: { nodeSelector: { 'more blanks': 'x' } } })), /labels as keys/);
    for (const field of Object.keys(fields)) equal(said(await patch({ spec: { [field]: null } })), 'taken');
  });
});

const jsonPatch = { contentType: 'application/json-patch+json' };
const mergePatch = { contentType: 'application/merge-patch+json' };

/** A schema that asks for nothing but types. */
const withoutChecks = (schema: object): object =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      ['x-kubernetes-validations', 'pattern', 'minimum'].includes(key) ? undefined : value,
    ),
  ) as object;
