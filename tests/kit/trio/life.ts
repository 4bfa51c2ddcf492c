// The life of a Trio for the fault tests: made, edited, deleted, with a thing outside the cluster that goes with it.

import { ConfigMap, Deployment, Job, rolledOut } from '../../../src/objects/index.ts';
import { testKind } from '../rig.ts';
import type { Subject } from '../subject.ts';
import { REVISION, server } from './manifests.ts';
import { Trio } from './schema.ts';

const first = {
  text: 'hello',
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
  external: 'thing',
};

/** An item is removed, a text is changed, the size is changed. */
const second = { ...first, text: 'changed', env: [{ name: 'B', value: '2' }], replicas: 2 };

/** What the fault tests must know of a Trio. */
export const trio: Subject<Trio> = {
  kind: Trio,
  installed: { ...testKind, controller: 'cleaning' },
  children: [ConfigMap, Deployment, Job],
  life: [first, second],
  isSettled: (now) => now.all(Job).length === 0,
  lackOf(object, now) {
    const { name } = object.metadata;
    const words = now.get(ConfigMap, `${name}-config`);
    const running = now.get(Deployment, `${name}-server`);
    const current = running?.metadata.annotations?.[REVISION] === server(object).metadata.annotations?.[REVISION];
    return [
      ...(words?.data?.['text'] === object.spec.text ? [] : ['its ConfigMap is of another generation']),
      ...(current ? [] : ['its Deployment is of another generation']),
      ...(rolledOut(running) ? [] : ['its Deployment is not rolled out']),
    ];
  },
  wrongs: () => [],
  misdeeds: () => [],
  fleeting: [],
  chance: () => [],
  undone: ['thing'],
};

/** A lane for stories of single Trios, without a finalizer. */
export const plain = { subject: trio, controller: 'plain' } as const;
