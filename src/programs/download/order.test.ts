import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { downloadArguments, downloadSeconds } from '../../api/contract.ts';
import { digestOf } from './digest.ts';
import { heardDownload } from './order.ts';

const written = fc.record(
  {
    url: fc.string({ minLength: 1, unit: fc.constantFrom('a', ';', '$(', '`', '-', '=', '/', ':', ' ', '\n') }),
    target: fc.constantFrom('/weights', '/a b'),
    framework: fc.constantFrom('onnx', 'tensorflow', 'custom'),
    digest: fc.constantFrom(`sha256:${'a'.repeat(64)}`),
    access: fc.record(
      {
        credentials: fc.constant('/c'),
        deny: fc.constantFrom(['10.0.0.0/8'], ['10.0.0.1:1', 'fd00::/8']),
        plainHttp: fc.constant(['h:1']),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['url', 'target', 'framework'] },
);

test('what the operator writes is heard, whatever the URL looks like', () => {
  fc.assert(
    fc.property(written, (order) => {
      const heard = heardDownload(downloadArguments(order));
      ok('order' in heard, JSON.stringify(heard));
      const { url, target, framework, digest, deny, plainHttp, credentials, allow } = heard.order;
      deepEqual(
        { url, target, framework, digest },
        { url: order.url, target: order.target, framework: order.framework, digest: order.digest },
      );
      deepEqual([deny, plainHttp, allow], [order.access?.deny ?? [], order.access?.plainHttp ?? [], []]);
      equal(credentials, order.access?.credentials ?? '/credentials');
    }),
  );
});

test('what is wrong with arguments is said', () => {
  const common = ['--target=/w', '--framework=onnx'];
  const rows: [string[], RegExp][] = [
    [common, /one URL/],
    [[...common, '--', 'a', 'b'], /one URL/],
    [['--target=/w', '--', 'a'], /--target and --framework/],
    [[...common, '--digest=sha256:1', '--', 'a'], /--digest must be/],
    [[...common, '--connections=1000', '--', 'a'], /--connections must be a whole number from 1 to 64/],
    [[...common, '--deny=x', '--', 'a'], /"x" is no range/],
    [[...common, '--other', '--', 'a'], /--other/],
  ];
  for (const [args, said] of rows) {
    const heard = heardDownload(args);
    ok('wrong' in heard);
    match(heard.wrong, said);
  }
});

test('the digest of several files is what sha256sum makes of them', () => {
  const files: Record<string, string> = { 'b.txt': '1', 'a/z': '22', 'a-b': '', é: '333', B: '4' };
  const folder = mkdtempSync(join(tmpdir(), 'digest-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const line = "find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum";
    const said = execFileSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8' }).slice(0, 64);
    const hashed = Object.entries(files).map(([path, text]) => ({
      path,
      sha256: createHash('sha256').update(text).digest('hex'),
    }));
    equal(digestOf(hashed), `sha256:${said}`);
    equal(digestOf([{ path: 'x', sha256: 'abc' }]), 'sha256:abc');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('without a word about time it has what the operator reckons with', () => {
  const heard = heardDownload(downloadArguments({ url: 'https://a/b', target: '/weights', framework: 'onnx' }));
  ok('order' in heard);
  equal(heard.order.deadline, downloadSeconds * 1_000);
});
