import { deepEqual, doesNotThrow, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigMap } from '../objects/index.ts';
import { apply, create, type Desired, keep, note } from './define.ts';
import { checkWishes, joinNotes } from './wishes.ts';

const child = (name: string, namespace?: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(namespace !== undefined && { namespace }) },
});
const owner = {
  object: { apiVersion: 'x/v1', kind: 'Shop', metadata: { name: 's', namespace: 'here' } },
  kind: ConfigMap,
  labelKind: 'Shop',
};

describe('wishes that cannot be meant are found before anything is written', () => {
  for (const { name, want, words } of [
    { name: 'a child without a name', want: [apply(child(''))], words: /wants a ConfigMap without a name/ },
    {
      name: 'a child in another namespace',
      want: [apply(child('a', 'there'))],
      words: /in namespace there, which is not its own/,
    },
    { name: 'the same child twice', want: [apply(child('a')), create(child('a'))], words: /wants ConfigMap a twice/ },
    { name: 'a child that is kept and applied', want: [keep(child('a')), apply(child('a'))], words: /twice/ },
  ] satisfies { name: string; want: Desired[]; words: RegExp }[])
    test(name, () => throws(() => checkWishes(want, owner), { reason: 'InternalError', message: words }));

  test('a note beside another wish for the same child is fine', () =>
    doesNotThrow(() =>
      checkWishes([apply(child('a', 'here')), note(child('a'), { x: '1' }), note(child('a'), { y: '2' })], owner),
    ));
});

test('notes on one child are one, since each replaces those before it', () => {
  const first = note(child('a'), { x: '1' });
  deepEqual(joinNotes([first, apply(child('b')), note(child('a'), { y: '2' })]), [
    note(child('a'), { x: '1', y: '2' }),
    apply(child('b')),
  ]);
  deepEqual(first, note(child('a'), { x: '1' }), 'what the controller said is not changed');
});
