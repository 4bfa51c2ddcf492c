// Sizes, volumes and downloads that do not come to be as asked.

import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { mark } from '../../../src/api/index.ts';
import { Job, PersistentVolumeClaim, StorageClass } from '../../../src/objects/index.ts';
import { must, product } from '../../kit/rig.ts';
import type { Row, Scene } from './scene.ts';
import { neverStalled } from './words.ts';

const badSizes = ['', '-1Gi', '10Gb', '1e30', '1Gi '];

const badSize: Row = {
  name: '7: a size that is no size is refused with the field and the way out; one that was stored before harms itself only',
  changesKind: true,
  async play(scene) {
    for (const storageSize of badSizes)
      await rejects(scene.model({ storageSize }), /spec\.storageSize.*(such as 10Gi|at most 1Pi)/s);
    await withoutRules(scene, async () => {
      for (const storageSize of badSizes) {
        await scene.eventually(() => scene.model({ storageSize }), 'the rules are gone');
        await scene.holds('Stalled', { status: 'True', reason: 'InvalidQuantity' });
        await scene.says(new RegExp(`spec\\.storageSize is "${storageSize}"`));
        await scene.holds('Ready', { status: 'False', reason: 'InvalidQuantity' });
      }
    });
    deepEqual(await scene.own(PersistentVolumeClaim), []);
    await scene.model();
    await scene.ready();
  },
};

/** As if the objects were older than the rules. */
async function withoutRules({ rig }: Scene, play: () => Promise<void>): Promise<void> {
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/storageSize';
  const patch = ['pattern', 'x-kubernetes-validations'].map((rule) => ({ op: 'remove', path: `${path}/${rule}` }));
  await must(rig.plane, ['patch', 'crd', 'mlmodels.baton.dev', '--type=json', '-p', JSON.stringify(patch)]);
  try {
    await play();
  } finally {
    await must(rig.plane, ['apply', '-f', join(product.deploy, 'crds')]);
  }
}

const unbound: Row = {
  name: '8: a volume that cannot be bound says so in the words of its events, stalls at the deadline, and heals by itself',
  async play(scene) {
    const { rig, namespace, name } = scene;
    const storageClassName = `${name}-${namespace}`;
    await scene.model({ storageClassName, rollout: { progressDeadlineSeconds: 30 } });
    await scene.says(new RegExp(`"${storageClassName}" not found`));
    const words = await scene.holds('StorageReady', { status: 'False', reason: 'ClaimPending' });
    match(words.message, new RegExp(`"${storageClassName}" not found`));
    await scene.holds('Stalled', { status: 'True', reason: 'ClaimPending' });
    await scene.holds('Reconciling', { status: 'False' });
    await scene.says(new RegExp(`"${storageClassName}" not found`));
    const [claim] = await scene.own(PersistentVolumeClaim);
    await rig.apply(StorageClass, volumes(scene, storageClassName));
    await scene.ready();
    const [same] = await scene.own(PersistentVolumeClaim);
    equal(same?.metadata.uid, claim?.metadata.uid, 'the claim that waited is the one that is used');
  },
};

const volumes = ({ means }: Scene, name: string, rest: object = {}) => ({
  metadata: { name },
  ...means.storage,
  ...rest,
});

const firstConsumer: Row = {
  name: '8: a volume that waits for its first pod is no deadlock, and one that no node can have is told by the scheduler',
  async play(scene) {
    const { rig, namespace, name } = scene;
    const [easy, nowhere] = [`${name}-${namespace}-late`, `${name}-${namespace}-zone`];
    const waits = { volumeBindingMode: 'WaitForFirstConsumer' };
    const key = 'topology.kubernetes.io/zone';
    const zone = { allowedTopologies: [{ matchLabelExpressions: [{ key, values: ['nowhere'] }] }] };
    await rig.apply(StorageClass, volumes(scene, easy, waits));
    await rig.apply(StorageClass, volumes(scene, nowhere, { ...waits, ...zone }));
    await scene.model({ storageClassName: nowhere });
    await scene.says(/cannot be scheduled: .*node\(s\) didn't find available persistent volumes to bind/);
    await scene.holds('Reconciling', { status: 'True', reason: 'Unschedulable' });
    await scene.model({ storageClassName: easy });
    await scene.ready();
  },
};

const full: Row = {
  name: '9: a full volume is named; a larger size goes on with it; a smaller one is ignored and that is said',
  async play(scene) {
    const { rig, namespace, name, means } = scene;
    const { own, words, enough, less } = means.tooLarge;
    const storageClassName = `${name}-${namespace}`;
    await rig.apply(StorageClass, volumes(scene, storageClassName));
    await scene.model({ ...own, storageClassName });
    await scene.says(words);
    for (const [type, status] of [
      ['Downloaded', 'False'],
      ['Ready', 'False'],
      ['Stalled', 'True'],
    ] as const)
      match((await scene.holds(type, { status, reason: 'StorageFull' })).message, words);
    const [before] = await scene.own(PersistentVolumeClaim);
    const mended = { ...means.fits, storageClassName };
    await scene.model({ ...mended, storageSize: enough });
    await means.grow?.(scene);
    const first = await scene.ready();
    await sizeIs(scene, enough, before);
    await scene.model({ ...mended, storageSize: less });
    await scene.holds('StorageShrinkIgnored', { status: 'True' });
    const second = await scene.ready();
    await sizeIs(scene, enough, before);
    equal(second.status?.digest, first.status?.digest);
    equal(scene.made('jobs').length, 2, 'the one that found no room, and the one that did');
  },
};

/** The same claim as before, with this size. */
const sizeIs = (scene: Scene, size: string, before: PersistentVolumeClaim | undefined) =>
  scene.eventually(async () => {
    const claims = await scene.own(PersistentVolumeClaim);
    deepEqual(
      claims.map(({ metadata, spec }) => [metadata.uid, spec.resources?.requests?.storage]),
      [[before?.metadata.uid, size]],
    );
    return true;
  }, `the claim stays and has ${size}`);

const unseenEnd: Row = {
  name: '10: a Job that ended and was removed while nobody looked: no error, and only its evidence is looked up again',
  async play(scene) {
    const { rig, namespace } = scene;
    await scene.model(scene.means.slow);
    const job = await begun(scene);
    const [claim] = await scene.own(PersistentVolumeClaim);
    await scene.whileDown(async () => {
      const ended = async () => (await rig.get(Job, namespace, job.metadata.name))?.status?.succeeded === 1;
      await scene.eventually(ended, 'it ends unseen');
      await rig.admin.delete(Job, { namespace, name: job.metadata.name }, { propagation: 'Background' });
      await scene.eventually(async () => !(await rig.get(Job, namespace, job.metadata.name)), 'it goes');
    });
    await scene.ready();
    await neverStalled(scene);
    const [same] = await scene.own(PersistentVolumeClaim);
    equal(same?.metadata.uid, claim?.metadata.uid, 'the volume with the evidence is kept');
    equal(scene.made('jobs').length, 2, 'the download, and the look at what it left');
    await goneAfter(scene);
  },
};

/** Once the evidence is on the claim, nothing is fetched again, whatever becomes of the Job. */
async function goneAfter(scene: Scene): Promise<void> {
  await scene.eventually(async () => (await scene.own(Job)).length === 0, 'the Job goes after the note');
  const [claim] = await scene.own(PersistentVolumeClaim);
  match(claim?.metadata.annotations?.[mark.digest] ?? '', /^sha256:/);
  await scene.whileDown(async () => {});
  await scene.model({ ...scene.means.slow, replicas: 2 });
  await scene.ready();
  equal(scene.made('jobs').length, 2, 'no third look');
}

/** The Job of a download that runs. */
export const begun = (scene: Scene): Promise<Job> =>
  scene.eventually(
    async () => (await scene.own(Job)).find(({ status }) => status?.active === 1),
    'the download begins',
  );

export const storageRows: Row[] = [badSize, unbound, firstConsumer, full, unseenEnd];
