// What the operator says about a source, a program hears; what a user wrote is never taken for a flag.

import { deepEqual, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { heardInspect, inspectArguments, type SourceAccess } from './access.ts';
import { downloadArguments } from './programs.ts';

const list = fc.array(fc.stringMatching(/^[a-z0-9.:/-]{1,20}$/), { minLength: 1, maxLength: 4 });
const path = fc.stringMatching(/^\/[a-z-]{1,20}$/);
const access: fc.Arbitrary<SourceAccess> = fc.record(
  { credentials: path, pullSecrets: path, deny: list, plainHttp: list },
  { noNullPrototype: true, requiredKeys: [] },
);
const asks = fc.constantFrom({}, { only: 'digest' as const });

describe('the order to look at an image', () => {
  test('is heard as it was said, whatever a user wrote', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), access, asks, (url, how, only) => {
        const order = { url, access: how, ...only };
        const args = inspectArguments(order);
        deepEqual(heardInspect(args), { order });
        deepEqual(heardInspect(args.slice(1)), { order });
      }),
    );
  });

  test('is refused in words when it is none', () => {
    for (const args of [[], ['--'], ['--', 'a', 'b'], ['--colour=red', '--', 'a'], ['--deny']])
      ok('wrong' in heardInspect(args));
    match(JSON.stringify(heardInspect(['--colour=red', '--', 'a'])), /--colour/);
  });
});

test('a download is told the same about its source', () => {
  const how = { credentials: '/credentials', pullSecrets: '/pull-secrets', deny: ['10.0.0.0/8', 'fd00::/8'] };
  const told = ['--credentials=/credentials', '--pull-secrets=/pull-secrets', '--deny=10.0.0.0/8,fd00::/8'];
  const order = { url: 'oci://registry.example/models/iris:1', target: '/weights', framework: 'onnx' };
  deepEqual(downloadArguments({ ...order, access: how }).slice(3), [...told, '--', order.url]);
  deepEqual(downloadArguments(order).slice(3), ['--', order.url]);
});
