import { deepEqual, equal, throws } from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { filled, stalePages } from './pages.ts';

const part = { page: 'a.md', name: 'rows', text: () => '| new |' };

test('the generated parts of the documentation are fresh; if not, run `node tools/manifests.ts`', () =>
  deepEqual([...stalePages(join(import.meta.dirname, '..')).keys()], []));

test('only what stands between the comments is replaced, and a second time nothing changes', () => {
  const once = filled('before\n<!-- rows -->\n| old |\n<!-- /rows -->\nafter\n', part);
  equal(once, 'before\n<!-- rows -->\n| new |\n<!-- /rows -->\nafter\n');
  equal(filled(once, part), once);
});

test('a page without the comments is named', () =>
  throws(() => filled('nothing', part), /a\.md has no place for rows/));
