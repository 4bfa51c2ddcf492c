// Bad inputs and faults that a model meets, each as a story that ends well or says why not.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { exitCode, mark, MLModel, sayLastWord } from '../../src/api/index.ts';
import {
  conditionOf,
  Deployment,
  Job,
  KubeEvent,
  PersistentVolumeClaim,
  Pod,
  Service,
} from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import type { ModelLane } from '../kit/models.ts';
import { must } from '../kit/rig.ts';

export interface Row {
  name: string;
  run: (lane: ModelLane) => Promise<void>;
}

const other = { modelURL: 'https://models.example/iris-2.onnx' };
const slow = { podAnnotations: { 'sim.baton.dev/container': 'download', 'sim.baton.dev/run-for': '8s' } };
const verdict = (word: Parameters<typeof sayLastWord>[0]) => ({
  podAnnotations: {
    'sim.baton.dev/container': 'download',
    'sim.baton.dev/exit-code': String(exitCode.verdict),
    'sim.baton.dev/message': sayLastWord(word),
  },
});
const condition = async (lane: ModelLane, type: string) => conditionOf((await lane.get()).status, type);
const jobs = (lane: ModelLane) => lane.rig.list(Job, lane.namespace);
const claims = (lane: ModelLane) => lane.rig.list(PersistentVolumeClaim, lane.namespace);

export const rows: Row[] = [
  {
    name: '7: a size that is no size is refused with the field and the way out',
    async run(lane) {
      for (const storageSize of ['', '-1Gi', '10Gb', '1e30', '1Gi '])
        await rejects(lane.model({ storageSize }), /storageSize/);
      await lane.model();
      await lane.ready();
    },
  },
  {
    name: '8: a volume that cannot be bound says so in the words of its events, and heals',
    async run(lane) {
      await lane.model({ storageClassName: 'nowhere' });
      await lane.says(/nowhere/);
      await lane.model({ storageClassName: 'nowhere', ...other });
      await lane.says(/nowhere/);
      equal((await condition(lane, 'Ready'))?.status, 'False');
    },
  },
  {
    name: '9: a full volume is named; a larger size goes on; a smaller one is ignored and that is said',
    async run(lane) {
      await lane.model(verdict({ result: 'verdict', verdict: 'StorageFull', message: 'needs 3 GiB, has 1 GiB' }));
      await lane.says(/needs 3 GiB, has 1 GiB/);
      equal((await condition(lane, 'Stalled'))?.reason, 'StorageFull');
      // Host-path volumes cannot grow: the test plays the class that allows it.
      await must(lane.rig.plane, ['patch', 'storageclass', 'standard', '-p', '{"allowVolumeExpansion":true}']);
      await lane.model({ storageSize: '4Gi' });
      await lane.ready();
      await lane.model({ storageSize: '2Gi' });
      await eventually(async () => (await condition(lane, 'StorageShrinkIgnored'))?.status === 'True');
      await lane.ready();
    },
  },
  {
    name: '10: a Job that was removed after its end is not missed',
    async run(lane) {
      await lane.model(slow);
      await eventually(async () => (await jobs(lane)).length === 1, { within: 60_000, what: 'the download begins' });
      const [job] = await jobs(lane);
      await (await lane.operator.current()).kill();
      await eventually(async () => (await jobs(lane))[0]?.status?.succeeded === 1, {
        within: 60_000,
        what: 'it ends unseen',
      });
      await lane.rig.admin.delete(
        Job,
        { namespace: lane.namespace, name: job?.metadata.name ?? '' },
        { propagation: 'Background' },
      );
      await lane.operator.kill(); // starts it again
      await lane.ready();
    },
  },
  {
    name: '12: any edit while Ready goes beside the old, and the old spec returns at once',
    async run(lane) {
      await lane.model();
      const first = await lane.ready();
      await lane.model(other);
      await lane.ready();
      await lane.model();
      const back = await lane.ready();
      equal(back.status?.servingRevision, first.status?.servingRevision);
    },
  },
  {
    name: '13: fifty edits while it downloads: only the last is finished',
    async run(lane) {
      await lane.model(slow);
      for (let nth = 1; nth <= 50; nth++) await lane.model({ modelURL: `https://models.example/v${nth}.onnx` });
      const { status } = await lane.ready();
      const [deployment] = await lane.rig.list(Deployment, lane.namespace);
      equal(deployment?.metadata.annotations?.[mark.revision], status?.revision);
      await eventually(async () => (await jobs(lane)).length === 0, {
        within: 60_000,
        what: 'older downloads are cancelled',
      });
      const digests = (await claims(lane)).filter(({ metadata }) => metadata.annotations?.[mark.digest] !== undefined);
      ok(digests.length <= 2, `${digests.length} downloads were finished`);
    },
  },
  {
    name: '14: an image that is missing is named in the words of the kubelet, and the old servers go on',
    async run(lane) {
      await lane.model();
      await lane.ready();
      await lane.model({
        podAnnotations: { 'sim.baton.dev/container': 'server', 'sim.baton.dev/fault': 'image-pull-error' },
      });
      await lane.says(/pull/i);
      equal((await condition(lane, 'Available'))?.status, 'True');
      await lane.model();
      await lane.ready();
    },
  },
  {
    name: '15: a server that crashes is told with its exit code and last line',
    async run(lane) {
      const crash = {
        'sim.baton.dev/fault': 'crash',
        'sim.baton.dev/exit-code': '7',
        'sim.baton.dev/message': 'bad magic number',
      };
      await lane.model({ podAnnotations: { 'sim.baton.dev/container': 'server', ...crash } });
      await lane.says(/7.*bad magic number/s);
      equal((await condition(lane, 'Ready'))?.status, 'False');
    },
  },
  {
    name: '16: deletion during the download leaves nothing, here and nowhere else',
    async run(lane) {
      await lane.model(slow);
      await eventually(async () => (await jobs(lane)).length === 1, { within: 60_000, what: 'the download begins' });
      await lane.rig.admin.delete(MLModel, { namespace: lane.namespace, name: 'iris' });
      const left = async () => [
        ...(await jobs(lane)),
        ...(await claims(lane)),
        ...(await lane.rig.list(Pod, lane.namespace)),
      ];
      await eventually(async () => (await left()).length === 0, { within: 90_000, what: 'everything goes' });
    },
  },
  {
    name: '17: children that somebody edits or deletes are put back, with one Normal Event',
    async run(lane) {
      const { namespace, rig } = lane;
      await lane.model();
      await lane.ready();
      await must(rig.plane, ['-n', namespace, 'scale', 'deployment/iris-server', '--replicas=0']);
      await eventually(
        async () => (await rig.admin.get(Deployment, { namespace, name: 'iris-server' })).spec.replicas === 1,
      );
      await lane.ready();
      await rig.admin.delete(Service, { namespace, name: 'iris-service' });
      await eventually(() => rig.get(Service, namespace, 'iris-service'), { what: 'the Service is back' });
      await lane.ready();
      const told = (await rig.list(KubeEvent, namespace)).filter(({ reason }) => reason === 'DriftCorrected');
      ok(told.length > 0);
      deepEqual([...new Set(told.map(({ type }) => type))], ['Normal']);
      match(
        told.map(({ message }) => message).join('\n'),
        /Deployment iris-server was put back as asked: spec.replicas/,
      );
    },
  },
];
