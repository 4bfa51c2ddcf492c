// Edits, deletions, and other people's hands on the children.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { mark, MLModel } from '../../../src/api/index.ts';
import {
  ControllerRevision,
  Deployment,
  Job,
  type Kind,
  type KubeObject,
  kindOf,
  PersistentVolumeClaim,
  Pod,
  Service,
} from '../../../src/objects/index.ts';
import { begun } from './storage.ts';
import type { Row, Scene } from './scene.ts';
import { download, neverStalled, neverWentDark, other } from './words.ts';

const ReplicaSet = kindOf<KubeObject>('apps/v1', 'ReplicaSet', 'replicasets');

/** What people edit, and how many downloads that takes. */
const edits: { own: object; fetches: number }[] = [
  { own: other, fetches: 1 },
  { own: { server: { args: ['serve', '--threads=2'] }, env: [{ name: 'LEVEL', value: 'debug' }] }, fetches: 0 },
  { own: { replicas: 2, expose: true, resources: { requests: { cpu: '200m' } } }, fetches: 0 },
];

const edited: Row = {
  name: '12: any edit while Ready goes beside the old, and the old spec returns at once, also half-way',
  async play(scene) {
    await scene.model();
    const { status: first } = await scene.ready();
    let fetched = scene.made('jobs').length;
    for (const { own, fetches } of edits) {
      await scene.model(own);
      const { status } = await scene.ready();
      ok(status?.servingRevision !== first?.servingRevision);
      equal(status?.servingRevision, status?.revision);
      await scene.model();
      equal((await scene.ready()).status?.servingRevision, first?.servingRevision);
      equal(scene.made('jobs').length, (fetched += fetches), 'going back fetches nothing');
    }
    await halfWay(scene, first?.servingRevision);
    await neverStalled(scene);
    await neverWentDark(scene);
  },
};

/** Back before the new source is there: nobody waits for it. */
async function halfWay(scene: Scene, serving: string | undefined): Promise<void> {
  await scene.model({ modelURL: 'https://models.example/iris-3.onnx', ...download({ 'run-for': '300s' }) });
  const job = await begun(scene);
  await scene.model();
  const back = await scene.ready();
  equal(back.status?.servingRevision, serving);
  const { status } = (await scene.rig.get(Job, scene.namespace, job.metadata.name)) ?? {};
  equal(status?.succeeded ?? 0, 0, 'the download was not waited for');
  await scene.eventually(async () => (await scene.own(Job)).length === 0, 'it is cancelled');
}

const storm: Row = {
  name: '13: fifty edits in five seconds, some while it downloads: only the last is finished, by one rollout',
  async play(scene) {
    await scene.model();
    const { status: first } = await scene.ready();
    const start = performance.now();
    for (let nth = 1; nth <= 50; nth++) {
      await scene.model({ modelURL: `https://models.example/v${nth}.onnx` });
      await pause(Math.max(0, start + nth * 100 - performance.now()));
    }
    const { status, metadata } = await scene.ready();
    equal(status?.observedGeneration, metadata.generation);
    equal(status?.servingRevision, status?.revision);
    const [deployment] = await scene.own(Deployment);
    equal(deployment?.metadata.annotations?.[mark.revision], status?.revision);
    equal((await scene.own(ReplicaSet)).length, 2, 'one rollout');
    const none = async () => (await scene.own(Job)).length === 0;
    await scene.eventually(none, 'older downloads are cancelled');
    await scene.eventually(
      async () => (await scene.own(PersistentVolumeClaim)).length === 2,
      'only what serves and what served keep their volumes',
    );
    deepEqual(status?.history, [first?.servingRevision]);
    await neverWentDark(scene);
  },
};

const children: Kind[] = [Job, PersistentVolumeClaim, Pod, Deployment, Service, ControllerRevision];

const removed: Row = {
  name: '16: deletion during the download, with connections that come and go, leaves nothing, here and nowhere else',
  async play(scene) {
    const { rig, namespace, proxy, name } = scene;
    await scene.model(scene.means.slow);
    await begun(scene);
    const twin = await twinElsewhere(scene);
    await rig.admin.delete(MLModel, { namespace, name });
    for (const manner of ['refuse', 'accept', 'refuse', 'accept'] as const) {
      await proxy.now({ kind: 'connections', manner });
      await pause(300);
    }
    await scene.eventually(async () => (await left(scene)).length === 0, 'everything goes');
    const same = await rig.admin.get(Pod, { namespace: twin.metadata.namespace ?? '', name: twin.metadata.name });
    deepEqual([same.metadata.uid, same.metadata.deletionTimestamp], [twin.metadata.uid, undefined]);
    await retained(scene);
  },
};

const left = async (scene: Scene): Promise<string[]> =>
  (await Promise.all(children.map((kind) => scene.own(kind))))
    .flat()
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);

/** A pod with the same labels in another namespace, which is nobody's business here. */
async function twinElsewhere(scene: Scene): Promise<Pod> {
  const { rig } = scene;
  const [pod] = await scene.own(Pod);
  const namespace = await rig.namespace();
  const twin = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: 'twin', labels: pod?.metadata.labels ?? {} },
    spec: { containers: [{ name: 'twin', image: 'twin:1' }] },
  };
  return scene.eventually(() => rig.admin.create(Pod, twin, { manager: 'somebody' }), 'a pod can be made there');
}

/** What is to be kept stays, and that was said before. */
async function retained(scene: Scene): Promise<void> {
  const { rig, namespace, name } = scene;
  await scene.model({ retain: true });
  await scene.ready();
  const [claim] = await scene.own(PersistentVolumeClaim);
  const { message } = await scene.holds('Retained', { status: 'True' });
  match(message, new RegExp(`${claim?.metadata.name} stays`));
  await rig.admin.delete(MLModel, { namespace, name });
  const kept = [`PersistentVolumeClaim ${claim?.metadata.name}`];
  await scene.eventually(async () => {
    deepEqual(await left(scene), kept);
    return true;
  }, 'all but the volume goes');
}

export const lifeRows: Row[] = [edited, storm, removed];
