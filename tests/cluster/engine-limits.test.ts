// Where the engine stops: at a stranger's object, at a refused write, at a child that is leaving, at a fight that nobody
// wins, at a decision that fails. What it does then, what it tells, and how it goes on when the reason is gone.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { apply, create, note, Terminal } from '../../src/kube/define.ts';
import { conditionOf, ConfigMap, controllerOf, label, type ObjectMeta } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { config, name, type Puppet, type Puppets, startPuppets, type Wants } from '../kit/puppet.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { Trio } from '../kit/trio/schema.ts';

let rig: Rig;
let puppets: Puppets;

before(async () => {
  rig = await startRig();
  puppets = await startPuppets(rig);
});
after(async () => {
  await puppets.stop();
  await rig.stop();
});

const somebody = { type: 'merge', manager: 'somebody' } as const;
/** Somebody else changes the metadata of a child. */
const meddle = ({ namespace }: Puppet, child: string, metadata: object) =>
  rig.admin.patch<ConfigMap>(ConfigMap, { namespace, name: child }, { metadata }, somebody);

/** Waits until the Trio says why it stands still. */
const stalls = (it: Puppet, reason: string) =>
  eventually(
    async () => {
      const { status } = await it.now();
      const stalled = conditionOf(status, 'Stalled');
      if (stalled?.reason === reason) return stalled;
      throw new Error(JSON.stringify(status));
    },
    { what: `it stalls: ${reason}` },
  );

const applied: Wants = ({ object }) => [apply(config('c', object.spec.text))];
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a stranger's object that carries our labels", () => {
  const rows: { verb: string; wants: Wants }[] = [
    { verb: 'created over', wants: () => [create(config('c'))] },
    { verb: 'applied to', wants: applied },
    { verb: 'noted on', wants: () => [note(config('c'), { said: 'ours' })] },
  ];
  for (const { verb, wants } of rows)
    test(`is not ${verb}`, async () => {
      const it = await puppets.puppet(wants);
      const labels = { [label.kind]: 'Trio', [label.name]: name, [label.uid]: 'somebody-elses' };
      const strange = await rig.apply(ConfigMap, { metadata: { namespace: it.namespace, name: 'c', labels } });
      await it.ask('ours');
      await stalls(it, 'OwnershipConflict');
      equal((await it.config('c'))?.metadata.resourceVersion, strange.metadata.resourceVersion);
    });
});

describe('a refusal', () => {
  test('is tried again by itself: a stranger who goes makes room', async () => {
    const it = await puppets.puppet(applied);
    await rig.apply(ConfigMap, { metadata: { namespace: it.namespace, name: 'c' }, data: { text: 'theirs' } });
    await it.ask('ours');
    await stalls(it, 'OwnershipConflict');
    await rig.admin.delete(ConfigMap, { namespace: it.namespace, name: 'c' });
    await eventually(async () => (await it.config('c'))?.data?.['text'] === 'ours');
    await eventually(async () => conditionOf((await it.now()).status, 'Stalled') === undefined);
  });

  test('ends the pass: nothing is deleted by a wish that was only half fulfilled', async () => {
    const it = await puppets.puppet(({ object }) => [create(config(object.spec.text))]);
    await it.get('first');
    await it.ask('Not_A_Name');
    const { message } = await stalls(it, 'Invalid');
    match(message, /Not_A_Name/);
    ok(await it.config('first'));
    await it.get('second');
    await eventually(async () => !(await it.config('first')));
  });
});

describe('a child', () => {
  test('that is leaving is not written, and is made anew when it is gone', async () => {
    const it = await puppets.puppet(applied);
    await it.get('first');
    await meddle(it, 'c', { finalizers: ['example.com/slow'] });
    await rig.admin.delete(ConfigMap, { namespace: it.namespace, name: 'c' });
    const leaving = await it.config('c');
    await it.get('second');
    equal((await it.config('c'))?.metadata.resourceVersion, leaving?.metadata.resourceVersion);
    await meddle(it, 'c', { finalizers: null });
    await eventually(async () => (await it.config('c'))?.data?.['text'] === 'second');
  });

  test('that is leaving where no watch shows it is waited for too', async () => {
    const it = await puppets.puppet(applied);
    await it.get('made');
    const first = await it.config('c');
    await rig.proxy.now({ kind: 'freeze', watches: { verb: 'watch', resource: 'configmaps' } });
    await meddle(it, 'c', { finalizers: ['example.com/slow'], labels: { [label.kind]: null }, ownerReferences: null });
    await rig.admin.delete(ConfigMap, { namespace: it.namespace, name: 'c' });
    rig.proxy.clearPlan();
    await eventually(() => it.writes().includes('create configmaps c 409'), { what: 'its name is found taken' });
    await wait(1_000);
    await meddle(it, 'c', { finalizers: null });
    await eventually(async () => ((await it.config('c'))?.metadata.uid ?? first?.metadata.uid) !== first?.metadata.uid);
  });

  test('that was only to be created gets its owner and labels back, beside the owners of others', async () => {
    const it = await puppets.puppet(() => [create(config('c'))]);
    await it.get('made');
    const { metadata } = await rig.apply(ConfigMap, { metadata: { namespace: it.namespace, name: 'holder' } });
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', name: 'holder', uid: metadata.uid };
    await meddle(it, 'c', { ownerReferences: [theirs], labels: { [label.name]: null } });
    const now = await eventually(async () => marked(it), { what: 'the marks come back' });
    deepEqual(now.ownerReferences?.[0], theirs);
    deepEqual([controllerOf({ ...config('c'), metadata: now })?.name, now.labels?.[label.name]], [name, name]);
  });

  test('keeps all notes of a pass, however many wishes they came in', async () => {
    const it = await puppets.puppet(() => [
      create(config('c')),
      note(config('c'), { a: '1' }),
      note(config('c'), { b: '2' }),
    ]);
    await it.get('noted');
    const { annotations } = (await it.config('c'))?.metadata ?? {};
    deepEqual([annotations?.['a'], annotations?.['b']], ['1', '2']);
  });

  test('is not made anew while its parent is leaving', async () => {
    const it = await puppets.puppet(applied, async () => ({ again: 200 }));
    await it.get('made');
    await rig.admin.delete(Trio, { namespace: it.namespace, name });
    await eventually(async () => (await it.now()).metadata.deletionTimestamp);
    await rig.admin.delete(ConfigMap, { namespace: it.namespace, name: 'c' });
    await wait(1_000);
    equal(await it.config('c'), undefined);
    await rig.admin.patch(Trio, { namespace: it.namespace, name }, { metadata: { finalizers: null } }, somebody);
  });
});

async function marked(it: Puppet): Promise<ObjectMeta | undefined> {
  const child = await it.config('c');
  return child && controllerOf(child) ? child.metadata : undefined;
}

describe('a fight that nobody wins', () => {
  const rows: { what: string; wants: Wants; undo: (it: Puppet) => Promise<unknown> }[] = [
    {
      what: 'a field',
      wants: applied,
      undo: ({ namespace }) =>
        rig.admin.patch(ConfigMap, { namespace, name: 'c' }, { data: { text: 'theirs' } }, somebody),
    },
    {
      what: 'the owner of a child',
      wants: () => [create(config('c'))],
      undo: (it) => meddle(it, 'c', { ownerReferences: null }),
    },
  ];
  for (const { what, wants, undo } of rows)
    test(`over ${what} is given up, and told`, async () => {
      const it = await puppets.puppet(wants);
      await it.get('ours');
      const fights = setInterval(() => void undo(it).catch(() => {}), 100);
      try {
        const { message } = await stalls(it, 'WriteLoop');
        match(message, /^ConfigMap c was written \d+ times in 60 s/);
        it.writes();
        await wait(1_500);
        deepEqual(it.writes(), [], 'nothing is written any more');
      } finally {
        clearInterval(fights);
      }
    });
});

describe('a decision that fails', () => {
  test('for a fault of the controller is told, and tried again by itself', async () => {
    let broken = true;
    const it = await puppets.puppet(() => {
      if (broken) throw new RangeError('a slip');
      return [create(config('c'))];
    });
    await it.ask('whatever');
    match((await stalls(it, 'InternalError')).message, /a slip/);
    await wait(1_000);
    broken = false;
    await eventually(() => it.config('c'));
  });

  test('for good is told, and left until the object changes', async () => {
    let looks = 0;
    const it = await puppets.puppet(({ object }) => {
      looks++;
      if (object.spec.text === 'nonsense') throw new Terminal('NoSense', 'this makes no sense');
      return [create(config('c'))];
    });
    await it.ask('nonsense');
    await stalls(it, 'NoSense');
    await wait(1_000); // an event that is faster than the answer to our own write is worth one look more
    const until = looks;
    await wait(2_000);
    equal(looks, until);
    await it.get('sense');
    ok(await it.config('c'));
  });

  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' } };
  const faults: { what: string; wants: Wants; says: RegExp }[] = [
    {
      what: 'a child of a kind that it does not own',
      wants: () => [create(job)],
      says: /wants Job j, but its definition does not own batch\/v1 Job/,
    },
    {
      what: 'the same child in two ways',
      wants: () => [create(config('c', 'one')), apply(config('c', 'two'))],
      says: /wants ConfigMap c twice/,
    },
  ];
  for (const { what, wants, says } of faults)
    test(`for ${what} is told, and nothing is made`, async () => {
      const it = await puppets.puppet(wants);
      await it.ask('nonsense');
      match((await stalls(it, 'InternalError')).message, says);
      deepEqual(
        it.writes().filter((write) => write.startsWith('create configmaps')),
        [],
      );
    });

  test("leaves other people's conditions alone", async () => {
    const it = await puppets.puppet(({ object }) => {
      if (object.spec.text === 'nonsense') throw new Terminal('NoSense', 'this makes no sense');
      return [];
    });
    await it.get('sense');
    const audited = { type: 'Audited', status: 'True', reason: 'Seen', message: '' };
    const ref = { namespace: it.namespace, name };
    const tell = (conditions: object[]) =>
      rig.admin.apply(
        Trio,
        { apiVersion: Trio.apiVersion, kind: Trio.kind, metadata: ref, status: { conditions } } as never,
        { manager: 'auditor', subresource: 'status' },
      );
    await tell([audited]);
    await it.ask('nonsense');
    await stalls(it, 'NoSense');
    await tell([]);
    equal(conditionOf((await it.now()).status, 'Audited'), undefined, 'it was never ours to keep');
  });
});
