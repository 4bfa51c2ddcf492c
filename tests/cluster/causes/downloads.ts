// What keeps weights from coming.

import { exitCode, MLModel, sayLastWord } from '../../../src/api/index.ts';
import { KubeEvent, PersistentVolumeClaim, Pod, StorageClass } from '../../../src/objects/index.ts';
import { reported } from '../../kit/telling.ts';
import { befalls, type Case, endOf, podOf, posts, soon, waitsFor } from './case.ts';

const download = (notes: Record<string, string>) => befalls('download', notes);

export const downloadCases: Case[] = [
  {
    name: 'download failed with a verdict',
    own: download({
      'exit-code': String(exitCode.verdict),
      message: sayLastWord({ result: 'verdict', verdict: 'SourceNotFound', message: 'models.example answered 404' }),
    }),
    report: (place) => reported(place, Pod, podOf('download', endOf)),
    words: /^models\.example answered 404$/,
    reason: 'SourceNotFound',
    is: 'stalled',
  },
  {
    name: 'a fault of the network with attempts left',
    own: download({
      'exit-code': String(exitCode.fault),
      message: sayLastWord({ result: 'fault', message: 'the connection was reset' }),
    }),
    report: (place) => reported(place, Pod, podOf('download', endOf)),
    words: /the connection was reset \(1 attempt failed, it is tried again\)/,
    reason: 'DownloadRetrying',
    is: 'going',
  },
  {
    name: 'download unschedulable',
    own: { nodeSelector: { 'example.com/gpu': 'yes' }, ...soon },
    report: (place) =>
      reported(
        place,
        Pod,
        podOf('download', ({ conditions }) => conditions?.some(({ reason }) => reason === 'Unschedulable')),
      ),
    words: /cannot be scheduled: .*node affinity\/selector.*\(check nodeSelector/,
    reason: 'Unschedulable',
    is: 'going',
    deadline: 'of the operator',
  },
  {
    name: 'image of the download cannot be pulled',
    own: download({ fault: 'image-pull-error' }),
    report: (place) =>
      reported(
        place,
        Pod,
        podOf('download', (status) => waitsFor(status) === 'ErrImagePull'),
      ),
    words: /container "download" cannot get an image: failed to pull and unpack image "baton:1"/,
    reason: 'ImageUnavailable',
    is: 'going',
  },
  {
    name: 'missing Secret of the download, told only by an Event',
    own: { credentials: 'nobody', ...download({ 'start-delay': '60s' }) },
    async report(place) {
      const { object } = await place.witness.first(
        Pod,
        podOf('download', (status) => waitsFor(status) === 'ContainerCreating'),
      );
      const message = 'MountVolume.SetUp failed for volume "credentials" : secret "nobody" not found';
      return posts(place, { ...object, apiVersion: 'v1', kind: 'Pod' }, { reason: 'FailedMount', message });
    },
    words: /cannot be started: MountVolume.*secret "nobody" not found \(create it, or name another\)/,
    reason: 'ContainerConfigError',
    is: 'going',
  },
  {
    name: 'claim that cannot bind: no such class',
    own: { storageClassName: 'nowhere', ...soon },
    report: (place) => reported(place, KubeEvent, ({ reason }) => reason === 'ProvisioningFailed'),
    words: /has no volume yet: storageclass\.storage\.k8s\.io "nowhere" not found \(create that class/,
    reason: 'ClaimPending',
    is: 'going',
    deadline: 'of the operator',
  },
  {
    name: 'claim that cannot bind: the provisioner refuses',
    own: { storageClassName: 'remote' },
    prepare: ({ rig }) => rig.apply(StorageClass, { metadata: { name: 'remote' }, provisioner: 'disks.example.com' }),
    async report(place) {
      const { object } = await place.witness.first(PersistentVolumeClaim, ({ status }) => status?.phase === 'Pending');
      const message = 'failed to provision volume with StorageClass "remote": rpc error: no space in pool 7';
      const claim = { ...object, apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
      return posts(place, claim, { reason: 'ProvisioningFailed', message });
    },
    words: /has no volume yet: failed to provision volume.*no space in pool 7/,
    reason: 'ClaimPending',
    is: 'going',
  },
  {
    name: 'a claim of somebody else that is not there',
    own: { modelURL: 'pvc://shelf/iris', storageSize: undefined },
    report: (place) => reported(place, MLModel, () => true),
    words: /The claim shelf does not exist in this namespace/,
    reason: 'ClaimNotFound',
    is: 'stalled',
  },
];
