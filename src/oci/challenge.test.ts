import { deepEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { challengesIn } from './challenge.ts';

describe('challenges', () => {
  test('a token server with its service and scope', () => {
    const header =
      'Bearer realm="https://auth.example/token",service="registry.example",scope="repository:a/b:pull,push"';
    deepEqual(challengesIn(header), [
      {
        scheme: 'bearer',
        parameters: {
          realm: 'https://auth.example/token',
          service: 'registry.example',
          scope: 'repository:a/b:pull,push',
        },
      },
    ]);
  });

  test('several in one header and in several, in any case, with quotes in quotes', () => {
    deepEqual(challengesIn(['basic Realm="a \\"b\\", c", BEARER realm = x ,service=y', 'Negotiate']), [
      { scheme: 'basic', parameters: { realm: 'a "b", c' } },
      { scheme: 'bearer', parameters: { realm: 'x', service: 'y' } },
      { scheme: 'negotiate', parameters: {} },
    ]);
  });

  test('no header is no challenge, and nonsense ends the reading', () => {
    deepEqual(challengesIn(undefined), []);
    deepEqual(challengesIn('Basic realm="x'), [{ scheme: 'basic', parameters: {} }]);
    fc.assert(fc.property(fc.string(), (text) => Array.isArray(challengesIn(text))));
  });
});
