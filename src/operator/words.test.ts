import { equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './read.ts';
import { flagOf, settingList, variableOf } from './settings.ts';
import { emptyFile, help, table } from './words.ts';

test('help and table name every setting in each of its forms', () => {
  for (const [key] of settingList) {
    ok(help().includes(`--${flagOf(key)}=`) && help().includes(variableOf(key)), key);
    ok(table().includes(`\`--${flagOf(key)}\` | \`${variableOf(key)}\``), key);
  }
  match(table(), /\| `--lease-name` \| `BATON_LEASE_NAME` \| `leaseName` \|/);
});

test('a row of the table has as many cells as its head, whatever stands in them', () => {
  const cells = table()
    .split('\n')
    .map((line) => line.replaceAll('\\|', '').split('|').length);
  equal(new Set(cells).size, 1);
});

test('the file that an installation starts with sets nothing', () => {
  const read = () => emptyFile();
  const result = readSettings({ args: ['--config=x'], env: {}, read });
  ok('run' in result);
  equal(result.run.workers, 8);
});
