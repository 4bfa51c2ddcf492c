// The table of frameworks: every row can run as the restricted user that pods have here, is documented with its sources, and
// goes to no node that its image is not built for.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { aModel, claim, downloadPod, job, revision, settings } from '../../../tests/kit/mlmodel.ts';
import { look } from '../../../tests/kit/plans.ts';
import { seen } from '../../../tests/kit/world.ts';
import { MLModel } from '../../api/index.ts';
import { builtFor, conditionOf, type PodTemplate } from '../../objects/index.ts';
import { type Framework, frameworks } from './frameworks.ts';
import { cut } from './revision.ts';
import { sourceOf } from './source.ts';
import { downloadJob } from './storage.ts';

type Name = MLModel['spec']['framework'];

const rows = Object.entries(frameworks('baton:1')) as [Name, Framework][];
const page = readFileSync(new URL('../../../docs/spec/frameworks.md', import.meta.url), 'utf8');

const serverOf = (spec: Partial<MLModel['spec']>): PodTemplate => cut(aModel(spec), settings, 1).template;
const container = (spec: Partial<MLModel['spec']>) => serverOf(spec).spec.containers[0];

function downloadOf(spec: Partial<MLModel['spec']>): PodTemplate {
  const model = aModel(spec);
  const source = sourceOf(model);
  if (source.from !== 'download') throw new TypeError('it is not downloaded');
  return downloadJob(model, source, 'a', settings).spec.template;
}

describe('every framework', () => {
  test('that a model may name has a row, but for one of their own', () => {
    const { framework } = MLModel.definition.spec.shape;
    deepEqual(new Set(framework.options), new Set([...rows.map(([name]) => name), 'custom']));
  });

  for (const [name, row] of rows) {
    test(`${name}: image by version, a port above those of root, weights where they are mounted, room for scratch`, () => {
      match(row.image, /^\S+:v?\d[\w.-]*$/);
      ok(row.port > 1023 && row.args.some((arg) => arg.includes(String(row.port))), 'it is told its port');
      ok(row.args.some((arg) => arg.includes('{model}')));
      ok(row.writable.includes('/tmp'));
      const { args = [] } = container({ framework: name }) ?? {};
      ok(args.some((arg) => arg.includes('/models/model')) && !args.some((arg) => arg.includes('{model}')));
    });

    test(`${name}: stands on the page with every figure, and whether it was run here`, () => {
      const line = page.split('\n').find((one) => one.startsWith(`| \`${name}\` |`)) ?? '';
      const figures = [name === 'onnx' ? 'our own' : row.image, String(row.port), row.healthPath, row.arch ?? ''];
      for (const figure of figures) ok(line.includes(figure), `${figure} in: ${line}`);
      ok(page.includes(`### ${name}`), 'its sources are told');
      for (const arg of row.args) ok(page.includes(arg), `${arg} is told`);
    });
  }

  test('that is not our own says that its image was not pulled here', () =>
    equal(page.split('\n').filter((line) => line.startsWith('| `') && line.includes('not pulled here')).length, 6));
});

describe('an image for one architecture', () => {
  const arch = 'kubernetes.io/arch';
  const selector = (pod: PodTemplate) => pod.spec.nodeSelector;

  test('runs on such nodes alone, and its volume is made there', () => {
    deepEqual(selector(serverOf({ framework: 'tensorflow' })), { [arch]: 'amd64' });
    deepEqual(selector(downloadOf({ framework: 'tensorflow' })), { [arch]: 'amd64' });
    deepEqual(selector(serverOf({ framework: 'tensorflow', nodeSelector: { disk: 'fast' } })), {
      [arch]: 'amd64',
      disk: 'fast',
    });
  });

  /** What a model says whose download finds no node. */
  const unplaced = (spec: Partial<MLModel['spec']>, words: string) => {
    const model = aModel(spec);
    const placed = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message: words };
    const waiting = { ...downloadPod(model), status: { phase: 'Pending', conditions: [placed] } };
    const { status } = look(model, seen(revision(model), claim(model), job(model), waiting));
    return { reason: conditionOf(status, 'Ready')?.reason, message: status.message ?? '' };
  };
  const unselected = "1 node(s) didn't match Pod's node affinity/selector.";

  test('where no node has it, is told before anything is fetched, a tainted node or not', () => {
    for (const words of [
      `0/1 nodes are available: ${unselected}`,
      `0/2 nodes are available: 1 node(s) had untolerated taint(s), ${unselected}`,
    ]) {
      const { reason, message } = unplaced({ framework: 'tensorflow', podAnnotations: { team: 'a' } }, words);
      equal(reason, 'UnsupportedCPU');
      match(message, /built for amd64: add such a node, or name an image for other nodes in server\.image/);
    }
  });

  test('is not what keeps pods from nodes for which a person asks by architecture', () => {
    for (const framework of ['onnx', 'tensorflow'] as const) {
      const asked = { framework, nodeSelector: { [arch]: 'arm64' } };
      const { reason, message } = unplaced(asked, `0/1 nodes are available: ${unselected}`);
      equal(reason, 'Unschedulable');
      match(message, /\(check nodeSelector against the labels of the nodes\)$/);
    }
  });

  test('is told by servers and downloads alike, and only where it is our table that asks', () => {
    const told = (spec: Partial<MLModel['spec']>) =>
      [serverOf(spec), downloadOf(spec)].map(({ metadata }) => metadata?.annotations);
    const both = { team: 'a', [builtFor]: 'amd64' };
    deepEqual(told({ framework: 'tensorflow', podAnnotations: { team: 'a' } }), [both, both]);
    deepEqual(told({ framework: 'tensorflow', nodeSelector: { [arch]: 'amd64' } }), [undefined, undefined]);
    deepEqual(told({ framework: 'tensorflow', server: { image: 'mine:1' } }), [undefined, undefined]);
    deepEqual(told({ framework: 'onnx', nodeSelector: { [arch]: 'arm64' } }), [undefined, undefined]);
  });

  test('gives way to a person: to their image, and to what they say of nodes', () => {
    equal(selector(serverOf({ framework: 'tensorflow', server: { image: 'mine:1' } })), undefined);
    deepEqual(selector(serverOf({ framework: 'tensorflow', nodeSelector: { [arch]: 'arm64' } })), { [arch]: 'arm64' });
  });

  test('is no matter for the others', () => {
    for (const framework of ['onnx', 'sklearn', 'xgboost', 'pytorch', 'vllm'] as const)
      equal(selector(serverOf({ framework })), undefined, framework);
  });
});

describe('the environment of a server', () => {
  test('is what its image needs under a user without a name, unless a person says otherwise', () => {
    const told = (env: MLModel['spec']['env']) => container({ framework: 'sklearn', ...(env && { env }) })?.env;
    deepEqual(told(undefined), [
      { name: 'HOME', value: '/tmp' },
      { name: 'USER', value: 'server' },
    ]);
    deepEqual(told([{ name: 'HOME', value: '/elsewhere' }]), [
      { name: 'USER', value: 'server' },
      { name: 'HOME', value: '/elsewhere' },
    ]);
  });

  test('has memory where processes share it', () => {
    const volumes = serverOf({ framework: 'vllm' }).spec['volumes'] as { name: string; emptyDir?: object }[];
    const mounts = container({ framework: 'vllm' })?.['volumeMounts'] as { name: string; mountPath: string }[];
    const { name } = mounts.find(({ mountPath }) => mountPath === '/dev/shm') ?? {};
    deepEqual(volumes.find((one) => one.name === name)?.emptyDir, { medium: 'Memory' });
  });
});
