import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigMap, kindOf, Secret } from '../objects/index.ts';
import { apply, type ControllerDefinition, create, defineController, keep, note, Terminal } from './define.ts';

const definition: ControllerDefinition = {
  kind: kindOf('test.baton.dev/v1', 'Shop', 'shops'),
  owns: [ConfigMap],
  decide: () => ({ want: [], status: {} }),
};
const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' } };

describe('a definition', () => {
  test('comes back as it is', () => equal(defineController(definition), definition));

  test('that reads Secrets is refused, in words that say what to do', () =>
    throws(() => defineController({ ...definition, reads: [ConfigMap, Secret] }), {
      name: 'TypeError',
      message: 'Shop: Secrets are never watched; mount the Secret into a pod instead of reading it',
    }));

  test("may read somebody else's kind that is called Secret", () => {
    const theirs = { ...definition, reads: [kindOf('vault.example.com/v1', 'Secret', 'secrets')] };
    equal(defineController(theirs), theirs);
  });
});

test('a wish is its verb and its child', () => {
  deepEqual(
    [create(child), apply(child), keep(child), note(child, { a: '1' })],
    [{ create: child }, { apply: child }, { keep: child }, { note: child, annotations: { a: '1' } }],
  );
});

test('a verdict has a reason for programs and a message for people', () => {
  const { name, reason, message } = new Terminal('BadImage', 'the image has no name');
  deepEqual([name, reason, message], ['Terminal', 'BadImage', 'the image has no name']);
});
