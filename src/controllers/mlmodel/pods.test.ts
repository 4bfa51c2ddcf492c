// Every pod that a model makes, for every combination of what a person can set: it passes the restricted profile, asks for
// what it needs, cannot write but where it must, and holds no token.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { aModel, serverPod, settings } from '../../../tests/kit/mlmodel.ts';
import { complaintsAbout } from '../../../tests/kit/restricted.ts';
import { seen } from '../../../tests/kit/world.ts';
import { mark, type MLModel } from '../../api/index.ts';
import { builtFor, type PodTemplate } from '../../objects/index.ts';
import { inspectJob } from './inspect.ts';
import { cut } from './revision.ts';
import { claimIn } from './server.ts';
import { sourceOf } from './source.ts';
import { downloadJob } from './storage.ts';
import { usersOf } from './volume.ts';

const quantity = fc.constantFrom('1', '500m', '2Gi');
const names = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.stringMatching(/^[a-z]{1,8}$/), { maxKeys: 3 });

/** Anything that a person may write, as far as it ends up in pods. */
const asked = fc
  .record(
    {
      modelURL: fc.constantFrom(
        'https://models.example/1',
        's3://bucket/1',
        'oci://registry.example:5000/models/iris:1',
        'pvc://shelf',
        'pvc://shelf/deep/er/',
      ),
      framework: fc.constantFrom(...(Object.keys(settings.frameworks) as MLModel['spec']['framework'][])),
      accessMode: fc.constantFrom('ReadWriteOnce' as const, 'ReadWriteMany' as const),
      credentials: fc.constant('secret'),
      resources: fc.record(
        { requests: fc.record({ cpu: quantity }), limits: fc.record({ memory: quantity }) },
        { requiredKeys: [] },
      ),
      env: fc.constant([
        { name: 'A', value: 'b' },
        { name: 'C', secret: { name: 's', key: 'k' } },
      ]),
      nodeSelector: names,
      tolerations: fc.constant([{ key: 'gpu', operator: 'Exists' as const }]),
      imagePullSecrets: fc.constant([{ name: 'pull' }]),
      serviceAccountName: fc.constant('mine'),
      podLabels: names,
      podAnnotations: names,
      priorityClassName: fc.constant('high'),
      runtimeClassName: fc.constant('gvisor'),
      server: fc.record({ image: fc.constant('mine:1'), port: fc.constant(9000) }, { requiredKeys: [] }),
    },
    { requiredKeys: ['modelURL', 'framework', 'accessMode'] },
  )
  .map((spec) => aModel(spec as unknown as Partial<MLModel['spec']>));

function podsOf(model: MLModel): PodTemplate[] {
  const sources = model.spec.modelURL.startsWith('oci:')
    ? [true, false].map((mounted) => sourceOf(model, { digest: 'sha256:0', bytes: 1, mounted }))
    : [sourceOf(model)];
  const looks = sources.length > 1 ? [inspectJob(model, settings).spec.template] : [];
  const rest = sources.flatMap((source) => [
    cut(model, settings, 1, source).template,
    ...(source.from === 'download' ? [downloadJob(model, source, 'a', settings).spec.template] : []),
  ]);
  return [...rest, ...looks];
}

const everyPod = (claim: (pod: PodTemplate, model: MLModel) => void) =>
  fc.assert(
    fc.property(asked, (model) => {
      for (const pod of podsOf(model)) claim(pod, model);
    }),
    { numRuns: 300 },
  );

type Named = { name: string };
type Resources = { requests?: Record<string, unknown> };

describe('every pod of a model', () => {
  test('passes the restricted profile', () => everyPod(({ spec }) => deepEqual(complaintsAbout(spec), [])));

  test('has no token, and cannot write onto its own image', () =>
    everyPod(({ spec }) => {
      equal(spec['automountServiceAccountToken'], false);
      for (const container of spec.containers)
        equal((container['securityContext'] as { readOnlyRootFilesystem?: boolean }).readOnlyRootFilesystem, true);
    }));

  test('asks for processor and memory', () =>
    everyPod(({ spec }) => {
      for (const container of spec.containers) {
        const { requests = {} } = container['resources'] as Resources;
        ok(requests['cpu'] !== undefined && requests['memory'] !== undefined);
      }
    }));

  test('leaves its last words in its status', () =>
    everyPod(({ spec }) => {
      for (const container of spec.containers) equal(container['terminationMessagePolicy'], 'FallbackToLogsOnError');
    }));

  test('mounts only volumes that it has, each at a place of its own', () =>
    everyPod(({ spec }) => {
      const volumes = (spec['volumes'] as Named[]).map(({ name }) => name);
      for (const container of spec.containers) {
        const mounts = container['volumeMounts'] as (Named & { mountPath: string })[];
        ok(mounts.every(({ name }) => volumes.includes(name)));
        equal(new Set(mounts.map(({ mountPath }) => mountPath)).size, mounts.length);
      }
    }));

  test('runs where the others run, and as they do', () =>
    everyPod(({ spec, metadata }, model) => {
      const { 'kubernetes.io/arch': arch, ...labels } = spec.nodeSelector ?? {};
      deepEqual(labels, { ...model.spec.nodeSelector });
      for (const field of ['tolerations', 'priorityClassName', 'runtimeClassName', 'imagePullSecrets'])
        deepEqual(spec[field], model.spec[field as keyof MLModel['spec']]);
      const { [mark.image]: image, [builtFor]: built, ...annotations } = metadata?.annotations ?? {};
      deepEqual(annotations, { ...model.spec.podAnnotations });
      ok(image === undefined || model.spec.modelURL.startsWith('oci:'));
      ok(built === undefined || built === arch);
      for (const [key, value] of Object.entries(model.spec.podLabels ?? {})) equal(metadata?.labels?.[key], value);
    }));

  test('is held with those that share a volume for one node, and only then', () =>
    everyPod(({ spec, metadata }, model) => {
      const own = (spec['volumes'] as { persistentVolumeClaim?: { claimName: string } }[]).some(
        ({ persistentVolumeClaim: claim }) => claim !== undefined && claim.claimName !== 'shelf',
      );
      const single = own && model.spec.accessMode === 'ReadWriteOnce';
      equal('affinity' in spec, single);
      const text = JSON.stringify(spec['affinity'] ?? '');
      equal(text.includes(String(metadata?.labels?.[mark.weights])), single);
    }));

  test('carries labels that are ours whatever a person writes', () => {
    const model = aModel({ podLabels: { 'app.kubernetes.io/component': 'mine' } });
    for (const { metadata } of podsOf(model)) ok(metadata?.labels?.['app.kubernetes.io/component'] !== 'mine');
  });

  test('carries labels that are short enough, whatever the claim of somebody else is called', () => {
    const claim = `shelf-${'x'.repeat(200)}.of-mine`;
    const model = aModel({ modelURL: `pvc://${claim}` });
    for (const { metadata, spec } of podsOf(model)) {
      for (const value of Object.values(metadata?.labels ?? {})) ok(value.length <= 63, value);
      equal(claimIn(spec), claim);
      const pod = { ...serverPod(model), metadata: { ...serverPod(model).metadata, labels: metadata?.labels ?? {} } };
      equal(usersOf(claim, 'server', seen(pod)).length, 1);
    }
  });
});
