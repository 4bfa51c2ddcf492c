// Whether an image can be mounted is said before a pod exists, from its manifest alone. Here a real node has the last
// word: what is said to be mountable must have its files in it, and for what a node mounts empty it must never be said.

import { deepEqual, match } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type RealCluster, skipReason, startRealCluster } from '../../controlplane/node/index.ts';
import { egressRules, systemClock } from '../../src/base/index.ts';
import { lookAt, openRegistry } from '../../src/programs/inspect/index.ts';
import { type Pusher, pusherTo, type Sort, sorts } from '../kit/images.ts';
import { freshNamespace, makePod, podWhen, pushProbe } from './pods.ts';

/** What a node made of an image: its file could be read, there was no such file, or the container could not be made. */
type Seen = 'mounted' | 'empty' | 'refused';

suite('an image on a real node', { skip: await skipReason() }, () => {
  let cluster: RealCluster;
  let pusher: Pusher;
  let probe: string;
  before(async () => {
    cluster = await startRealCluster();
    pusher = await pusherTo(cluster.registry);
    probe = await pushProbe(cluster);
  });
  after(async () => {
    await pusher?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  /** What was said beforehand. */
  async function told(name: string): Promise<boolean> {
    const plainHttp = [cluster.registry];
    await using registry = openRegistry({
      clock: systemClock,
      random: Math.random,
      rules: egressRules({}),
      plainHttp,
    });
    const looked = await lookAt(registry, `${cluster.registry}/${name}`);
    return 'digest' in looked && looked.mountable;
  }

  async function mount(namespace: string, sort: Sort, reference: string): Promise<Seen> {
    const volumes = [{ at: '/weights', volume: { image: { reference } } }];
    const name = sort.toLowerCase();
    await makePod(cluster, namespace, { name, does: ['read', '/weights/model.onnx'], image: probe, volumes });
    const pod = await podWhen(
      cluster,
      namespace,
      name,
      ({ status }) =>
        ['Succeeded', 'Failed'].includes(status.phase) ||
        /Error|BackOff/.test(status.containerStatuses?.[0]?.state.waiting?.reason ?? ''),
    );
    const { waiting } = pod.status.containerStatuses?.[0]?.state ?? {};
    if (waiting) {
      match(waiting.message ?? '', /^failed to mount image volume: ImageVolumeMountFailed: /);
      return 'refused';
    }
    return pod.status.phase === 'Succeeded' ? 'mounted' : 'empty';
  }

  test('has its files if that was said, and only then', async () => {
    const namespace = await freshNamespace(cluster);
    const results: Partial<Record<Sort, [said: boolean, seen: Seen]>> = {};
    for (const sort of sorts) {
      const name = `models/${sort.toLowerCase()}`;
      const digest = await pusher.push(`${name}:1`, sort);
      results[sort] = [await told(`${name}:1`), await mount(namespace, sort, `${cluster.registry}/${name}@${digest}`)];
    }
    deepEqual(results, {
      image: [true, 'mounted'],
      plain: [true, 'mounted'],
      typed: [true, 'mounted'],
      artifact: [false, 'empty'],
      modelSpec: [false, 'empty'],
      emptyConfig: [false, 'refused'],
      modelLayers: [false, 'refused'],
      modelConfig: [false, 'refused'],
      index: [true, 'mounted'],
    });
  });
});
