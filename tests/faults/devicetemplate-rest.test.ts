// DeviceTemplates that want nothing cost nothing: whatever they have come to, no request is made for them but the lease.

import { after, before, test } from 'node:test';
import { moduleLabels, Node } from '../../src/objects/index.ts';
import { devicetemplate } from '../kit/devicelife.ts';
import { eventually } from '../kit/eventually.ts';
import { kmmOf } from '../kit/kmm/installed.ts';
import { onLane } from '../kit/lane.ts';
import { bringTo, costsNothing, type Resting } from '../kit/rest.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 2 }, devicetemplate.installed)));
after(() => rig.stop());

const images = { consumer: 'registry.example/consumer:1', plugin: 'registry.example/plugin:1' };
const selector = { 'kubernetes.io/os': 'linux' };

const states: Record<string, Resting> = {
  ready: { spec: { ...images, selector }, reason: 'ConsumersReady' },
  seed: {
    spec: { selector, consumerimage: images.consumer, imageRepoSecret: { name: 'pull' } },
    reason: 'ConsumersReady',
  },
  nowhere: { spec: { ...images, selector: { nobody: 'x' } }, reason: 'NoMatchingNodes' },
  refused: { spec: { ...images, plugin: 'evil.example/plugin:1', selector }, reason: 'ImageNotAllowed' },
  untold: { spec: { ...images, selector, driver: { version: '2' } }, reason: 'OtherVersion' },
  full: { spec: { ...images, selector, resourceName: 'example.com/none' }, reason: 'Unschedulable' },
};

test('DeviceTemplates at rest cost no request but the lease, and no watch is opened anew, over 60 s', (t) => {
  const lease = { namespace: product.home, name: 'baton' };
  return onLane(rig, { subject: devicetemplate, namespaces: [], lease }, async (lane) => {
    const { truth, namespace } = lane;
    await bringTo(lane, states);
    await costsNothing(lane, t);

    await kmmOf(rig).stop();
    const labels = { [moduleLabels(namespace, 'ready-module').plugged]: null };
    await rig.admin.patch(
      Node,
      { namespace: '', name: 'node-1' },
      { metadata: { labels } },
      { type: 'merge', manager: 'kmm' },
    );
    const ready = () => truth.get(devicetemplate.kind, 'ready')?.status?.nodes?.ready;
    await eventually(() => ready() === 1, { what: 'it is not asleep: a node that loses its plugin is told' });
  });
});
