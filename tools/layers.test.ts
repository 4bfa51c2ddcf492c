import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { complaints, importsOf, mayImport } from './layers.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('every import in this repository goes in the allowed direction, by a door', () => {
  const paths = globSync('{src,controlplane,tests,bench,tools}/**/*.{ts,tsx}', { cwd: root });
  const sources = paths.filter((path) => path !== 'tools/layers.test.ts').map((path) => ({ path, text: read(path) }));
  equal(complaints(sources).join('\n'), '');
});

/** One file with one import: what is said about it. */
const about = (path: string, imported: string, form = (from: string) => `import { x } from '${from}';`) =>
  complaints([{ path, text: `// A file.\n\n${form(imported)}\n` }]);

describe('allowed', () => {
  const rows: [string, string][] = [
    ['src/kube/queue.ts', './heap.ts'],
    ['src/kube/client/call.ts', '../watch.ts'],
    ['src/kube/queue.ts', '../base/index.ts'],
    ['src/kube/client/call.ts', '../../objects/index.ts'],
    ['src/schema/crd.ts', '../objects/index.ts'],
    ['src/api/model.ts', '../schema/index.ts'],
    ['src/controllers/model/controller.ts', './manifests.ts'],
    ['src/controllers/model/controller.ts', '../../kube/define.ts'],
    ['src/controllers/model/controller.ts', '../../serving/index.ts'],
    ['src/serving/rollout.ts', '../kube/define.ts'],
    ['src/operator/main.ts', '../controllers/model/index.ts'],
    ['src/operator/main.ts', '../kube/index.ts'],
    ['src/main.ts', './operator/main.ts'],
    ['src/main.ts', './programs/download/main.ts'],
    ['src/programs/download/main.ts', '../../api/contract.ts'],
    ['src/kube/queue.test.ts', '../../tests/kit/clock.ts'],
    ['tests/cluster/engine.test.ts', '../../src/kube/index.ts'],
    ['tests/cluster/engine.test.ts', '../../src/kube/define.ts'],
    ['tests/cluster/engine.test.ts', '../../controlplane/index.ts'],
    ['tests/faults/engine.test.ts', '../../controlplane/faults/index.ts'],
    ['tests/faults/engine.test.ts', '../kit/trio/controller.ts'],
    ['controlplane/build.ts', './versions/compile.ts'],
    ['src/base/hash.ts', 'node:crypto'],
    ['src/base/hash.ts', 'undici'],
  ];
  for (const [path, imported] of rows) test(`${path} imports ${imported}`, () => deepEqual(about(path, imported), []));
});

describe('refused', () => {
  const rows: { name: string; path: string; imports: string; says: RegExp }[] = [
    {
      name: 'the engine knows a kind',
      path: 'src/kube/queue.ts',
      imports: '../api/index.ts',
      says: /^src\/kube\/queue\.ts:3 imports '\.\.\/api\/index\.ts': kube may import only base, objects\. Move/,
    },
    {
      name: 'the ground knows something of ours',
      path: 'src/base/hash.ts',
      imports: '../objects/index.ts',
      says: /base may import nothing of ours/,
    },
    {
      name: 'the engine knows the schema',
      path: 'src/kube/watch.ts',
      imports: '../schema/index.ts',
      says: /kube may import only base, objects/,
    },
    {
      name: 'a file behind the door',
      path: 'src/schema/crd.ts',
      imports: '../base/hash.ts',
      says: /only src\/base\/index\.ts is a door for schema/,
    },
    {
      name: 'a file behind the doors of the engine',
      path: 'tests/cluster/engine.test.ts',
      imports: '../../src/kube/queue.ts',
      says: /only src\/kube\/index\.ts or src\/kube\/define\.ts is a door for tests/,
    },
    {
      name: 'a file behind the door of the control plane',
      path: 'tests/kit/cluster.ts',
      imports: '../../controlplane/ports.ts',
      says: /only controlplane\/index\.ts or controlplane\/faults\/index\.ts or controlplane\/node\/index\.ts is a door/,
    },
    {
      name: 'a controller takes the engine by its first door',
      path: 'src/controllers/model/controller.ts',
      imports: '../../kube/index.ts',
      says: /only src\/kube\/define\.ts is a door for controllers\/model/,
    },
    {
      name: 'a controller imports another',
      path: 'src/controllers/orchestra/controller.ts',
      imports: '../model/index.ts',
      says: /controllers\/orchestra may import only api, objects, helm, kube, serving\. Kinds speak through objects/,
    },
    {
      name: 'a program in a pod talks to the API server',
      path: 'src/programs/download/main.ts',
      imports: '../../kube/index.ts',
      says: /programs\/download may import only base, api, oci\. A pod of ours has no token/,
    },
    {
      name: 'source imports tests',
      path: 'src/kube/queue.ts',
      imports: '../../tests/kit/clock.ts',
      says: /nothing in src may import tests/,
    },
    {
      name: 'source imports the control plane',
      path: 'src/operator/main.ts',
      imports: '../../controlplane/index.ts',
      says: /nothing in src may import controlplane/,
    },
    {
      name: 'a test beside the code starts a cluster',
      path: 'src/kube/watch.test.ts',
      imports: '../../controlplane/index.ts',
      says: /Move the test to tests\//,
    },
    {
      name: 'the entrypoint does more than to start programs',
      path: 'src/main.ts',
      imports: './operator/index.ts',
      says: /src\/main\.ts starts programs: it may import a main\.ts, and nothing else/,
    },
    {
      name: 'somebody imports the entrypoint',
      path: 'src/operator/main.ts',
      imports: '../main.ts',
      says: /operator may import only/,
    },
    {
      name: 'a folder without a row',
      path: 'src/utils/list.ts',
      imports: '../base/index.ts',
      says: /utils is not in the table of layers; give it a row/,
    },
    {
      name: 'the page takes more than types',
      path: 'src/console/web/list.ts',
      imports: '../../api/index.ts',
      says: /only types of api/,
    },
  ];
  for (const { name, path, imports, says } of rows)
    test(name, () => {
      const said = about(path, imports);
      equal(said.length, 1);
      match(said[0] ?? '', says);
    });

  const forms: Record<string, (from: string) => string> = {
    'import of a type': (from) => `import type { X } from '${from}';`,
    'import over several lines': (from) => `import {\n  x,\n  type Y,\n} from '${from}';`,
    'import for its effect': (from) => `import '${from}';`,
    'import()': (from) => `  const { x } = await import('${from}');`,
    'type of an import()': (from) => `export type X = typeof import('${from}');`,
    'export from': (from) => `export { x } from '${from}';`,
    'export of a type from': (from) => `export type { X } from '${from}';`,
    'export of everything': (from) => `export * from '${from}';`,
    'export under a name': (from) => `export * as x from '${from}';`,
  };
  for (const [name, form] of Object.entries(forms))
    test(`a wrong ${name}`, () => equal(about('src/kube/queue.ts', '../api/index.ts', form).length, 1));

  test('types alone may go to the page', () => {
    deepEqual(about('src/console/web/list.ts', '../../api/index.ts', forms['import of a type']), []);
  });
});

test('those on top may import everything below them', () => {
  const folders = Object.keys(mayImport);
  deepEqual(mayImport['operator'], folders.slice(0, folders.indexOf('operator')));
});

test('an import that stands in a comment is none', () => {
  deepEqual(importsOf("// import { x } from '../api/index.ts';\n *  import('../api/index.ts')\n"), []);
});

test('imports are told with their lines', () => {
  const text = "import { a } from './a.ts';\nimport type { B } from './b.ts';\n\nconst c = await import('./c.ts');\n";
  deepEqual(importsOf(text), [
    { line: 1, path: './a.ts', types: false },
    { line: 2, path: './b.ts', types: true },
    { line: 4, path: './c.ts', types: false },
  ]);
});

describe('the documents', () => {
  test('have the table of layers that is checked here', () => {
    const page = read('ARCHITECTURE.md');
    for (const [folder, known] of Object.entries(mayImport)) {
      const names = known.map((name) => `\`${name}\``).join(', ');
      const cell = known === mayImport['operator'] ? 'every folder above `operator`' : names || 'nothing of ours';
      ok(page.includes(`| \`${folder}\` | ${cell} |`), `ARCHITECTURE.md has no row: \`${folder}\` | ${cell}`);
    }
  });

  test('hold every design record that a comment sends its reader to, and list it', () => {
    const comments = globSync('{src,controlplane,tests,bench,tools}/**/*.ts', { cwd: root }).map(read).join('\n');
    const sent = comments.matchAll(/docs\/design\/(\d{4}-[\w-]+\.md)/g).map(([, name = '']) => name);
    const records = new Set([...sent, ...globSync('0*.md', { cwd: join(root, 'docs/design') })]);
    const index = read('docs/design/README.md');
    deepEqual(
      [...records].filter((name) => !index.includes(`(${name})`)),
      [],
    );
  });

  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root });
  for (const page of pages)
    test(`${page} names only files that exist`, () => {
      const named = [...read(page).matchAll(/`((?:src|tests|tools|controlplane|bench|deploy|docs)\/[\w./-]*)`/g)];
      const linked = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)];
      const missing = [
        ...named.map(([, path = '']) => path),
        ...linked.map(([, path = '']) => join(dirname(page), path)),
      ];
      deepEqual(
        missing.filter((path) => !existsSync(join(root, path))),
        [],
      );
    });
});
