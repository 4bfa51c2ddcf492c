import { deepEqual, equal, ok } from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { pathOf, Places } from './names.ts';

const part = fc.oneof(
  fc.constantFrom('..', '.', '', 'a', 'é', 'e\u0301', '\\', '..\\', 'C:', '\0', '.baton', '.BATON', ' ', '\u202e'),
  fc.string(),
);
const name = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('/'));

test('no name becomes a path outside of the folder, or one that another program reads differently', () => {
  fc.assert(
    fc.property(name, (text) => {
      const read = pathOf(text);
      if ('wrong' in read) return;
      const { path } = read;
      const full = posix.normalize(posix.join('/root', path));
      ok(path === '' ? full === '/root' || full === '/root/' : full === `/root/${path}`, JSON.stringify([text, path]));
      ok(!/[\\\0\p{Cc}]/u.test(path));
      ok(path.toLowerCase().split('/')[0] !== '.baton');
      deepEqual(pathOf(path === '' ? '.' : path), { path });
    }),
    { numRuns: 2_000 },
  );
});

test('a place is taken once, whatever the spelling', () => {
  const file = fc
    .array(fc.constantFrom('a', 'A', 'b', 'é', 'e\u0301', 'É'), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('/'));
  fc.assert(
    fc.property(fc.array(file, { maxLength: 8 }), (files) => {
      const places = new Places();
      const taken = files.filter((path) => places.take(path, 'file') === undefined);
      const folded = (path: string) => path.normalize('NFKC').toLowerCase();
      equal(new Set(taken.map(folded)).size, taken.length);
      for (const one of taken)
        ok(!taken.some((other) => folded(other).startsWith(`${folded(one)}/`)), JSON.stringify(taken));
    }),
  );
});
