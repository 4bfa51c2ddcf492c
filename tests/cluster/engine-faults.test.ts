// What the engine does when the world is not as it was last seen: the watch is late, and somebody was faster. Nothing
// may be written that rests on the old view; once the view is new, everything goes on by itself.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Call } from '../../controlplane/faults/index.ts';
import { apply, create, type Desired, keep, note } from '../../src/kube/define.ts';
import { ConfigMap, controllerOf, label } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { config, finalizer, name, type Puppet, type Puppets, startPuppets, type Wants } from '../kit/puppet.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { Trio } from '../kit/trio/schema.ts';

let rig: Rig;
let puppets: Puppets;

before(async () => {
  rig = await startRig();
  puppets = await startPuppets(rig);
});
afterEach(() => rig.proxy.clearPlan());
after(async () => {
  await puppets.stop();
  const writes = rig.proxy.trace.writes();
  await rig.stop();
  deepEqual(writes.filter((call) => !isGuarded(call)).map(wordsOf), [], 'no write can hit what was not seen');
});

/** The operator sees nothing more of a resource until the test ends, or thaws it. */
const freeze = (resource: string) => rig.proxy.now({ kind: 'freeze', watches: { verb: 'watch', resource } });
const thaw = () => rig.proxy.clearPlan();

/** Somebody else writes one annotation. */
const touch = ({ namespace }: Puppet, child: string) =>
  rig.admin.patch(
    ConfigMap,
    { namespace, name: child },
    { metadata: { annotations: { touched: String(performance.now()) } } },
    { type: 'merge', manager: 'somebody' },
  );

/** Waits until the operator has tried this and was refused. */
const refused = (puppet: Puppet, attempt: string) =>
  eventually(() => puppet.writes().includes(attempt), { what: `${attempt} is tried`, within: 10_000 });

describe('a late view of the children', () => {
  test('a child that changed meanwhile is not deleted before that was seen', async () => {
    const it = await puppets.puppet(({ object }) => (object.spec.text === 'with' ? [create(config('c'))] : []));
    await it.get('with');
    await freeze('configmaps');
    await touch(it, 'c');
    await it.ask('without');
    await refused(it, 'delete configmaps c 409');
    ok(await it.config('c'));
    thaw();
    await eventually(async () => !(await it.config('c')), { what: 'the child goes once its change was seen' });
  });

  test('nor is it written', async () => {
    const it = await puppets.puppet(({ object }) => [apply(config('c', object.spec.text))]);
    for (const text of ['posted', 'applied']) await it.get(text);
    await freeze('configmaps');
    await touch(it, 'c');
    await it.ask('late');
    await refused(it, 'apply configmaps c 409');
    equal((await it.config('c'))?.data?.['text'], 'applied');
    thaw();
    await eventually(async () => (await it.config('c'))?.data?.['text'] === 'late');
  });

  const rows: { verb: string; wants: Wants }[] = [
    { verb: 'an apply', wants: ({ object }) => [apply(config('c', object.spec.text))] },
    { verb: 'a note', wants: ({ object }) => [create(config('c')), note(config('c'), { said: object.spec.text })] },
  ];
  for (const { verb, wants } of rows)
    test(`a child that was deleted meanwhile does not come back by ${verb}`, async () => {
      const it = await puppets.puppet(wants);
      for (const text of ['first', 'second']) await it.get(text);
      await freeze('configmaps');
      await rig.admin.delete(ConfigMap, { namespace: it.namespace, name: 'c' });
      await it.ask('third');
      await refused(it, 'apply configmaps c 409');
      equal(await it.config('c'), undefined);
      thaw();
      await eventually(() => it.writes().includes('create configmaps c 201'), { what: 'it is made anew' });
    });

  test('what is taken over from our own POST is taken from nobody else', async () => {
    const it = await puppets.puppet(({ object }) => [apply(config('c', object.spec.text))]);
    await it.get('posted');
    const { namespace } = it;
    const filter = { verb: 'patch', resource: 'configmaps', namespace };
    rig.proxy.setPlan([{ when: { request: filter }, do: { kind: 'hold', name: 'takeover' } }]);
    await it.ask('applied');
    await rig.proxy.holding('takeover');
    const theirs = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace },
      data: { theirs: 'stays' },
    };
    await rig.admin.apply(ConfigMap, theirs, { manager: 'somebody' });
    rig.proxy.release('takeover');
    await eventually(async () => (await it.config('c'))?.data?.['text'] === 'applied');
    const { data, metadata } = await rig.admin.get(ConfigMap, { namespace, name: 'c' });
    equal(data?.['theirs'], 'stays');
    const { managedFields = [] } = metadata as { managedFields?: { manager: string }[] };
    ok(
      managedFields.some(({ manager }) => manager === 'somebody'),
      'their fields are still theirs',
    );
  });

  /** Wants `d` while it is asked for alone, and beside `c` only if `c` says that it is to be spared. */
  const sparing =
    (child: (text: string) => Desired[]): Wants =>
    ({ object: { spec }, seen }) => {
      const spares = seen.get(ConfigMap, 'c')?.metadata.annotations?.['spares'];
      return [...child(spec.text), ...(spec.text === 'first' || spares ? [create(config('d'))] : [])];
    };

  test('a child that was there all the time is found before anything is deleted without it', async () => {
    const it = await puppets.puppet(sparing((text) => (text === 'first' ? [] : [create(config('c'))])));
    const { metadata } = await it.get('first');
    const first = await it.config('d');
    await freeze('configmaps');
    const labels = { [label.kind]: 'Trio', [label.name]: name, [label.uid]: metadata.uid ?? '' };
    const annotations = { spares: 'd' };
    await rig.apply(ConfigMap, { metadata: { namespace: it.namespace, name: 'c', labels, annotations } });
    await it.get('second');
    equal((await it.config('d'))?.metadata.uid, first?.metadata.uid);
    equal(controllerOf((await it.config('c')) ?? config('c'))?.uid, metadata.uid, 'its owner is put back');
  });

  test('news that is met in taking a child over is looked at before anything is deleted without it', async () => {
    const it = await puppets.puppet(sparing((text) => [apply(config('c', text))]));
    await it.get('first');
    const first = await it.config('d');
    await freeze('configmaps');
    const { namespace } = it;
    const spare = { metadata: { annotations: { spares: 'd' } } };
    await rig.admin.patch(ConfigMap, { namespace, name: 'c' }, spare, { type: 'merge', manager: 'somebody' });
    await it.ask('second');
    await eventually(() => rig.proxy.trace.requests({ verb: 'get', resource: 'configmaps', namespace }).length > 0);
    thaw();
    await eventually(async () => (await it.config('c'))?.data?.['text'] === 'second');
    equal((await it.config('d'))?.metadata.uid, first?.metadata.uid);
    deepEqual(
      it.writes().filter((write) => write.startsWith('delete')),
      [],
    );
  });
});

describe('our own writes', () => {
  test('are known at once: each is made once, though the watch says nothing', async () => {
    const it = await puppets.puppet(({ object: { spec } }) =>
      spec.text === 'gone' ? [] : [apply(config('c', spec.text))],
    );
    await it.get('ready');
    await freeze('configmaps');
    it.writes();
    for (const text of ['first', 'second', 'gone']) await it.get(text);
    deepEqual(
      it.writes().filter((write) => write.includes('configmaps')),
      ['patch configmaps c 200', 'apply configmaps c 200', 'apply configmaps c 200', 'delete configmaps c 200'],
    );
  });

  test('lead on at once: what waited for the answer follows in the same pass', async () => {
    const it = await puppets.puppet(({ seen }) => [
      create(config('a')),
      ...(seen.get(ConfigMap, 'a')?.metadata.uid ? [create(config('b'))] : []),
    ]);
    await freeze('configmaps');
    await it.get('both');
    deepEqual(
      it.writes().filter((write) => write.startsWith('create configmaps')),
      ['create configmaps a 201', 'create configmaps b 201'],
    );
  });

  test('of a status are known at once too', async () => {
    const it = await puppets.puppet(({ seen }) => (seen.read(ConfigMap, 'signal') ? [create(config('c'))] : []));
    await it.get('told');
    await freeze('trios');
    it.writes();
    for (const value of ['one', 'two', 'three']) {
      await rig.apply(ConfigMap, { metadata: { namespace: it.namespace, name: 'signal', annotations: { value } } });
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
    deepEqual(it.writes(), ['create configmaps c 201', 'apply status puppet 200']);
  });
});

describe('a late view of the parent', () => {
  /** Keeps `c` unless both the parent and a foreign ConfigMap let it go. */
  const guarded: Wants = ({ object, seen }) => {
    if (object.spec.text === 'let go' && seen.read(ConfigMap, 'signal')) return [];
    return [seen.get(ConfigMap, 'c') ? keep(config('c')) : create(config('c'))];
  };
  const signal = ({ namespace }: Puppet) => rig.apply(ConfigMap, { metadata: { namespace, name: 'signal' } });

  /** Waits until the operator has looked at the parent itself, and a moment longer. */
  async function lookedAt({ namespace }: Puppet): Promise<void> {
    const looks = () => rig.proxy.trace.requests({ verb: 'get', resource: 'trios', namespace }).length;
    await eventually(() => looks() > 0, { what: 'the parent is looked at' });
    await new Promise((resolve) => setTimeout(resolve, 300));
  }

  test('that was edited meanwhile: nothing is deleted by what it asked before', async () => {
    const it = await puppets.puppet(guarded);
    await it.get('let go');
    await freeze('trios');
    await it.ask('keep');
    await signal(it);
    await lookedAt(it);
    ok(await it.config('c'));
    deepEqual(
      it.writes().filter((write) => write.startsWith('delete')),
      [],
    );
  });

  test('that was replaced meanwhile: nothing is deleted in the name of the former one', async () => {
    const it = await puppets.puppet(guarded);
    await it.get('let go');
    await freeze('trios');
    const free = { type: 'merge', manager: 'somebody' } as const;
    const { namespace } = it;
    await rig.admin.patch(ConfigMap, { namespace, name: 'c' }, { metadata: { ownerReferences: null } }, free);
    await rig.admin.patch(Trio, { namespace, name }, { metadata: { finalizers: null } }, free);
    await rig.admin.delete(Trio, { namespace, name });
    await it.ask('let go');
    await signal(it);
    await lookedAt(it);
    ok(await it.config('c'));
  });

  test('that was edited meanwhile: nothing is told of what it asked before', async () => {
    const it = await puppets.puppet(({ seen }) => (seen.read(ConfigMap, 'signal') ? [create(config('c'))] : []));
    await it.get('first');
    await freeze('trios');
    await it.ask('second');
    await signal(it);
    await refused(it, 'apply status puppet 409');
    equal((await it.now()).status?.phase, 'Wants 0');
    thaw();
    await eventually(async () => (await it.now()).status?.message === 'second');
    equal((await it.now()).status?.phase, 'Wants 1');
  });

  test('that got a finalizer of somebody else meanwhile: ours comes beside it, before the first child, and goes alone', async () => {
    const it = await puppets.puppet(() => [create(config('c'))]);
    const { namespace } = it;
    const filter = { verb: 'patch', resource: 'trios', namespace };
    rig.proxy.setPlan([{ when: { request: filter }, do: { kind: 'hold', name: 'finalizer' } }]);
    await it.ask('made');
    await rig.proxy.holding('finalizer');
    equal(await it.config('c'), undefined, 'no effect before the finalizer');
    const hold = (...finalizers: string[]) =>
      rig.admin.patch(Trio, { namespace, name }, { metadata: { finalizers } }, { type: 'merge', manager: 'somebody' });
    await hold('example.com/theirs');
    rig.proxy.release('finalizer');
    await eventually(() => it.config('c'));
    deepEqual((await it.now()).metadata.finalizers, ['example.com/theirs', finalizer]);
    await rig.admin.delete(Trio, { namespace, name });
    await eventually(async () => (await it.now()).metadata.finalizers?.join() === 'example.com/theirs');
    await hold();
  });
});

/** Whether a write names what it was decided for: the UID and the resourceVersion of an object that exists already. */
function isGuarded({ verb, body, contentType }: Call): boolean {
  if (verb === 'create') return true;
  if (contentType.includes('json-patch')) return body.includes('/metadata/resourceVersion');
  return /"uid":"[^"]/.test(body) && /"resourceVersion":"\d/.test(body);
}

const wordsOf = ({ verb, resource, subresource, name: object, body }: Call) =>
  `${verb} ${resource} ${subresource} ${object}: ${body.slice(0, 300)}`;
