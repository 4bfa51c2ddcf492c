// Rows 29, 30 and 32: numbers that make no sense, servers for which there is no place, and names.

import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { ModelDeployment } from '../../../src/api/index.ts';
import { conditionOf, ControllerRevision, Deployment, type Kind, label, Service } from '../../../src/objects/index.ts';
import type { Row, Scene } from './scene.ts';

type Stage = Scene<ModelDeployment>;

const pinned = (letter: string) => `registry.example/iris@sha256:${letter.repeat(64)}`;

/** One that serves. */
export const healthy = { image: pinned('a') };

/** What serves of the row's own object. */
async function serving({ rig, namespace, name }: Stage): Promise<number | undefined> {
  return (await rig.admin.get(Deployment, { namespace, name: `${name}-model` })).status?.availableReplicas;
}

const numbers: Row<ModelDeployment> = {
  name: '29: numbers that make no sense are refused with their field and change nothing; none at all is an answer',
  async play(scene) {
    await scene.ask(healthy);
    await scene.ready();
    const refused: [own: object, words: RegExp][] = [
      [{ replicas: -1 }, /spec\.replicas/],
      [{ replicas: 2 ** 31 - 1 }, /spec\.replicas/],
      [{ replicas: 2 ** 31 }, /spec\.replicas/],
      [{ minReplicas: 3, maxReplicas: 2 }, /spec\.minReplicas/],
      [{ maxReplicas: 0 }, /spec\.maxReplicas/],
    ];
    for (const [own, words] of refused) await rejects(scene.ask({ ...healthy, ...own }), words);
    equal((await scene.get()).metadata.generation, 1);
    await scene.ask({ ...healthy, replicas: 0 });
    await scene.holds('Ready', { status: 'True', reason: 'ScaledToZero' });
    await scene.ask({ ...healthy, replicas: 1 });
    await scene.holds('Ready', { status: 'True', reason: 'Serving' });
  },
};

const noPlace: Row<ModelDeployment> = {
  name: '30: servers for which there is no place are told in the words of the scheduler, and going back works at once',
  async play(scene) {
    await scene.ask(healthy);
    const first = await scene.ready();
    const rows: [own: object, words: RegExp][] = [
      [{ resources: { limits: { 'nvidia.com/gpu': 8 } } }, /Insufficient nvidia\.com\/gpu/],
      [{ nodeSelector: { 'example.com/nowhere': 'yes' } }, /didn't match Pod's node affinity\/selector/],
    ];
    for (const [own, words] of rows) {
      await scene.ask({ ...healthy, ...own, rollout: { strategy: 'surge' } });
      await scene.holds('Ready', { status: 'False', reason: 'Unschedulable' });
      match((await scene.says(words)).status?.message ?? '', /revision \w+ serves/);
      equal(await serving(scene), 1, 'the old one goes on');
      await scene.ask(healthy);
      equal((await scene.ready()).status?.lastRevisionName, first.status?.lastRevisionName);
    }
  },
};

const names: Row<ModelDeployment> = {
  name: '32: long names and names that begin alike have children of their own, and a stranger’s are left alone',
  refused: Service.plural,
  async play(scene) {
    const { rig, namespace, wait } = scene;
    const apply = (name: string) => rig.apply(ModelDeployment, { metadata: { namespace, name }, spec: healthy });
    await rejects(apply('n'.repeat(253)), /metadata\.name: Too long: may not be more than 63/);
    const alike = ['a', 'b'].map((end) => `${'n'.repeat(62)}${end}`);
    for (const name of alike) await apply(name);
    for (const name of alike)
      await wait(async () => {
        const { status } = await rig.admin.get(ModelDeployment, { namespace, name });
        return conditionOf(status, 'Ready')?.status === 'True';
      }, `${name} is Ready`);
    const kinds: Kind[] = [Deployment, Service, ControllerRevision];
    for (const kind of kinds) {
      const children = (await rig.list(kind, namespace)).filter(({ metadata }) =>
        alike.includes(metadata.labels?.[label.name] ?? ''),
      );
      deepEqual(
        children.map(({ metadata }) => metadata.name.length <= 63),
        [true, true],
        kind.kind,
      );
    }
    const theirs = {
      metadata: { namespace, name: `${scene.name}-model` },
      spec: { ports: [{ port: 80 }], selector: { app: 'theirs' } },
    };
    await rig.apply(Service, theirs);
    await scene.ask(healthy);
    const { status } = await scene.holds('Stalled', { status: 'True', reason: 'OwnershipConflict' });
    match(status?.message ?? '', new RegExp(`^Service ${scene.name}-model exists already`));
    const left = await rig.admin.get(Service, { namespace, name: `${scene.name}-model` });
    deepEqual([left.spec.selector, left.metadata.ownerReferences], [{ app: 'theirs' }, undefined]);
  },
};

export const deploymentRows: readonly Row<ModelDeployment>[] = [numbers, noPlace, names];
