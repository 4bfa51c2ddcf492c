// What keeps weights from coming, brought about on a real node by the real program, its volume and its source.

import { exitCode, MLModel } from '../../../src/api/index.ts';
import { KubeEvent, StorageClass } from '../../../src/objects/index.ts';
import { endOf, soon } from '../../cluster/causes/case.ts';
import { reported } from '../../kit/telling.ts';
import type { Ground } from '../ground.ts';
import { type RealCase, saidOf } from './case.ts';

const from = ({ web }: Ground, path: string) => ({ modelURL: `http://${web.host}${path}`, storageSize: '64Mi' });
const ends = (code: number) => saidOf('download', (status) => endOf(status)?.exitCode === code);

export const downloadCases: RealCase[] = [
  {
    name: 'download failed with a verdict',
    recorded: 'download-verdict',
    own: (ground) => from(ground, '/nothing.onnx'),
    report: ends(exitCode.verdict),
    words: /answered 404 Not Found; check modelURL/,
    reason: 'SourceNotFound',
    is: 'stalled',
  },
  {
    name: 'a fault of the network with attempts left',
    recorded: 'download-fault',
    own: ({ web }) => {
      const busy = web.put('/busy.onnx', (_, response) => void response.writeHead(503, { 'retry-after': '600' }).end());
      return { modelURL: busy, storageSize: '64Mi' };
    },
    report: ends(exitCode.fault),
    words: /503.*\(1 attempt failed, it is tried again\)/,
    reason: 'DownloadRetrying',
    is: 'going',
  },
  {
    name: 'disk full',
    recorded: 'download-storage-full',
    own: ({ web }) => ({
      modelURL: web.put('/large.onnx', Buffer.alloc(48 * 1024 ** 2)),
      storageSize: '16Mi',
      storageClassName: 'limited',
    }),
    report: ends(exitCode.verdict),
    words: /48\.0 MiB are needed, it has 1[56]\.\d MiB; ask for more in storageSize/,
    reason: 'StorageFull',
    is: 'stalled',
  },
  {
    name: 'download unschedulable',
    recorded: 'download-unschedulable',
    own: (ground) => ({ ...from(ground, '/any'), nodeSelector: { 'example.com/gpu': 'yes' }, ...soon }),
    report: saidOf('download', ({ conditions }) => conditions?.some(({ reason }) => reason === 'Unschedulable')),
    words: /cannot be scheduled: .*node affinity\/selector.*\(check nodeSelector/,
    reason: 'Unschedulable',
    is: 'going',
    deadline: 'of the operator',
  },
  {
    name: 'missing Secret of the download, told only by an Event',
    recorded: 'download-secret-missing',
    own: (ground) => ({ ...from(ground, '/any'), credentials: 'nobody', ...soon }),
    report: (place) => reported(place, KubeEvent, ({ reason }) => reason === 'FailedMount'),
    words: /cannot be started: MountVolume.*secret "nobody" not found \(create it, or name another\)/,
    reason: 'ContainerConfigError',
    is: 'going',
    deadline: 'of the operator',
  },
  {
    name: 'claim that cannot bind: no such class',
    recorded: 'claim-no-class',
    own: (ground) => ({ ...from(ground, '/any'), storageClassName: 'nowhere', ...soon }),
    report: (place) => reported(place, KubeEvent, ({ reason }) => reason === 'ProvisioningFailed'),
    words: /has no volume yet: storageclass\.storage\.k8s\.io "nowhere" not found \(create that class/,
    reason: 'ClaimPending',
    is: 'going',
    deadline: 'of the operator',
  },
  {
    name: 'claim that cannot bind: nobody makes its volumes',
    recorded: 'claim-no-provisioner',
    own: (ground) => ({ ...from(ground, '/any'), storageClassName: 'remote', ...soon }),
    prepare: ({ rig }) => rig.apply(StorageClass, { metadata: { name: 'remote' }, provisioner: 'disks.example.com' }),
    report: (place) => reported(place, MLModel, ({ status }) => /disks\.example\.com/.test(status?.message ?? '')),
    words: /has no volume yet: .*external provisioner 'disks\.example\.com'/i,
    reason: 'ClaimPending',
    is: 'stalled',
  },
];
