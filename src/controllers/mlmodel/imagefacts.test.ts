// Two facts about images: when they are asked for, of whom, and what the answers mean.

import { deepEqual, equal, fail, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../tests/kit/clock.ts';
import { aModel, inspection, revision, settings } from '../../../tests/kit/mlmodel.ts';
import { seen } from '../../../tests/kit/world.ts';
import type { MLModel } from '../../api/index.ts';
import type { Reader } from '../../kube/define.ts';
import type { Deployment, Kind, KubeObject, Node } from '../../objects/index.ts';
import { canMount, imageVolumes, manifest } from './imagefacts.ts';

const image = aModel({ modelURL: 'oci://registry.example/models/iris:1', nodeSelector: { gpu: 'yes' } });
const cut = revision(image, 1, { digest: 'sha256:0', mounted: true });
const { signal } = new AbortController();

describe('what is behind a name', () => {
  test('is asked for until the revision is cut, and not while a Job asks', () => {
    deepEqual(manifest.inputs(image, seen())?.image, 'registry.example/models/iris:1');
    equal(manifest.inputs(image, seen(cut)), undefined);
    equal(manifest.inputs(image, seen(inspection(image))), undefined);
    equal(manifest.inputs(aModel(), seen()), undefined);
  });

  test('is asked for by its digest where one is named, and again when a person mends something', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const exact = aModel({ modelURL: 'oci://registry.example:5000/iris:1', digest });
    equal(manifest.inputs(exact, seen())?.image, `registry.example:5000/iris@${digest}`);
    const mended = aModel({ ...image.spec, imagePullSecrets: [{ name: 'pull' }] });
    ok(manifest.inputs(mended, seen())?.attempt !== manifest.inputs(image, seen())?.attempt);
  });

  test('is asked of the registry that is handed in', async () => {
    const looked = { digest: 'sha256:0', mountable: true, bytes: 1 };
    const asked: string[] = [];
    const registry = { lookAt: async (name: string) => (asked.push(name), looked), digestOf: notAsked };
    const answer = await manifest.fetch(
      { image: 'registry.example/iris:1', attempt: '' },
      { kube: reader([], true), clients: { registry }, signal },
    );
    deepEqual([answer, asked], [looked, ['registry.example/iris:1']]);
    const refused = { refused: 'SourceNotFound', message: '404' } as const;
    deepEqual([manifest.isFinal?.(looked), manifest.isFinal?.(refused), manifest.freshFor], [true, false, 60_000]);
  });
});

const node = (kubeletVersion: string, containerRuntimeVersion: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  status: { nodeInfo: { kubeletVersion, containerRuntimeVersion } },
});

const versions: [kubelet: string, runtime: string, mounts: boolean][] = [
  ['v1.35.0', 'containerd://2.1.0', true],
  ['v1.36.3', 'containerd://2.4.2', true],
  ['v1.36.3-gke.100', 'containerd://v2.10.0-rc.1', true],
  ['v2.0.0', 'cri-o://2.0.0', true],
  ['v1.35.1', 'cri-o://1.31.0', true],
  ['v1.34.9', 'containerd://2.4.2', false],
  ['v1.36.3', 'containerd://2.0.9', false],
  ['v1.36.3', 'containerd://1.7.30', false],
  ['v1.36.3', 'cri-o://1.30.4', false],
  ['v1.36.3', 'docker://30.0.0', false],
  ['v1.36.3', 'containerd://', false],
  ['', 'containerd://2.4.2', false],
];

describe('a node', () => {
  for (const [kubelet, runtime, mounts] of versions)
    test(`with ${kubelet || 'no'} kubelet and ${runtime} ${mounts ? 'mounts images' : 'is not known to'}`, () =>
      equal(canMount(node(kubelet, runtime)), mounts));

  test('that says nothing is not known to', () => equal(canMount({}), false));
});

const notAsked = () => Promise.reject(new Error('not asked here'));

/** A reader over these nodes, with an API server that keeps the field, drops it, or refuses it. */
function reader(nodes: Node[], keeps: boolean | 'refuses', asked: unknown[] = []): Reader {
  return {
    get: notAsked,
    podLog: notAsked,
    list: async <T extends KubeObject>(_kind: Kind<T>, _namespace: string, query?: Record<string, string>) => {
      asked.push(query?.['labelSelector']);
      return nodes as KubeObject[] as T[];
    },
    dryRun: async (_kind, object) => {
      asked.push(object.metadata.name);
      if (keeps === 'refuses') return undefined;
      const copy = structuredClone(object) as KubeObject as Deployment;
      if (!keeps) copy.spec.template.spec['volumes'] = [{ name: 'weights' }];
      return copy as KubeObject as typeof object;
    },
  };
}

describe('whether nodes mount images', () => {
  const fact = imageVolumes(settings);
  const inputs = fact.inputs(image, seen());
  const good = node('v1.36.3', 'containerd://2.4.2');
  const old = node('v1.34.0', 'containerd://2.4.2');
  const clients = { registry: { lookAt: notAsked, digestOf: notAsked } };
  const asking = async (of: typeof fact, model: MLModel, kube: Reader) => {
    const trial = of.inputs(model, seen());
    return trial && of.fetch(trial, { kube, clients, signal });
  };
  const ask = (kube: Reader) => asking(imageVolumes(settings), image, kube);

  test('is asked for until the revision is cut, and only where the setting leaves it open', () => {
    ok(inputs);
    equal(fact.inputs(image, seen(cut)), undefined);
    equal(fact.inputs(aModel(), seen()), undefined);
    for (const setting of ['on', 'off'] as const) {
      const decided = imageVolumes({ ...settings, imageVolumes: setting });
      deepEqual([decided.inputs(image, seen()), decided.needs], [undefined, []]);
    }
    deepEqual(
      fact.needs?.map(({ resource, scope }) => [resource, scope]),
      [
        ['nodes', 'cluster'],
        ['deployments', undefined],
      ],
    );
  });

  test('takes all nodes that may run the servers, and an API server that keeps the field', async () => {
    equal(await ask(reader([good, good], true)), true);
    equal(await ask(reader([good, old], true)), false);
    equal(await ask(reader([], true)), false);
    equal(await ask(reader([good], false)), false);
    equal(await ask(reader([good], 'refuses')), false);
  });

  test('asks about the nodes that are meant, and tries under a name that no server has', async () => {
    const asked: unknown[] = [];
    await ask(reader([good], true, asked));
    const { metadata, spec } = inputs ?? {};
    deepEqual(asked, ['kubernetes.io/os=linux,gpu=yes', metadata?.name]);
    match(metadata?.name ?? '', /^trial-[0-9a-f]{10}$/);
    deepEqual([spec?.replicas, metadata?.namespace], [0, 'shop']);
  });

  test('asks only about nodes for which the image of the server is built', async () => {
    const asked: unknown[] = [];
    const row = { ...(settings.frameworks.onnx ?? fail()), arch: 'amd64' };
    const built = imageVolumes({ ...settings, frameworks: { ...settings.frameworks, onnx: row } });
    await asking(built, image, reader([good], true, asked));
    equal(asked[0], 'kubernetes.io/os=linux,gpu=yes,kubernetes.io/arch=amd64');
  });

  const modelOf = (number: number, more: Partial<MLModel['spec']> = {}, namespace = 'shop'): MLModel => {
    const model = aModel({ ...image.spec, modelURL: `oci://registry.example/models/m:${number}`, ...more });
    return { ...model, metadata: { ...model.metadata, name: `m-${number}`, uid: `uid-${number}`, namespace } };
  };

  test('is one question for all models that come together, whatever they are called and serve', async () => {
    const shared = imageVolumes(settings, () => 0);
    const asked: unknown[] = [];
    const kube = reader([good], true, asked);
    const together = Array.from({ length: 500 }, (_, number) => asking(shared, modelOf(number), kube));
    deepEqual(new Set(await Promise.all(together)), new Set([true]));
    for (let number = 500; number < 1_000; number++) equal(await asking(shared, modelOf(number), kube), true);
    equal(asked.length, 2);
    ok((shared.perSecond ?? Infinity) >= (manifest.perSecond ?? Infinity), 'nobody waits longer than for the name');
  });

  test('is asked apart for other nodes, and tried apart for other pods and other namespaces', async () => {
    const shared = imageVolumes(settings, () => 0);
    const asked: unknown[] = [];
    const kube = reader([good], true, asked);
    const askedFor = async (model: MLModel) => {
      const before = asked.length;
      await asking(shared, model, kube);
      return asked.slice(before).map((one) => (String(one).startsWith('trial-') ? 'trial' : one));
    };
    await askedFor(modelOf(1));
    deepEqual(await askedFor(modelOf(2, { nodeSelector: { gpu: 'no' } })), ['kubernetes.io/os=linux,gpu=no', 'trial']);
    deepEqual(await askedFor(modelOf(3, {}, 'market')), ['trial']);
    deepEqual(await askedFor(modelOf(4, { podLabels: { team: 'a' } })), ['trial']);
    deepEqual(await askedFor(modelOf(5)), []);
  });

  test('is asked anew when the answer is old, though it was a yes', async () => {
    const clock = new FakeClock();
    const shared = imageVolumes(settings, () => clock.monotonic());
    equal(await asking(shared, modelOf(1), reader([good], true)), true);
    await clock.advance(1_999);
    equal(await asking(shared, modelOf(2), reader([old], true)), true);
    await clock.advance(1);
    equal(await asking(shared, modelOf(3), reader([old], true)), false);
  });

  test('is asked anew after a failure, which all hear who waited for it', async () => {
    const shared = imageVolumes(settings);
    const down: Reader = { ...reader([good], true), list: () => Promise.reject(new Error('down')) };
    const heard = await Promise.allSettled([1, 2].map((number) => asking(shared, modelOf(number), down)));
    deepEqual(
      heard.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    equal(await asking(shared, modelOf(3), reader([good], true)), true);
  });

  test('is asked anew where an answer does not come', async () => {
    const clock = new FakeClock();
    const shared = imageVolumes(settings, () => clock.monotonic());
    void asking(shared, modelOf(1), { ...reader([good], true), list: () => new Promise(() => {}) });
    await clock.advance(2_000);
    equal(await asking(shared, modelOf(2), reader([good], true)), true);
  });
});
