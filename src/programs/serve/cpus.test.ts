// The limit of a container, in both forms in which the kernel tells it.

import { equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cpusWithin } from './cpus.ts';

const files = (texts: Record<string, string>) => (path: string) => texts[path.replace('/sys/fs/cgroup/', '')];

describe('CPUs of 8 within', () => {
  const rows: [name: string, texts: Record<string, string>, cpus: number][] = [
    ['no group at all', {}, 8],
    ['a group without a limit', { 'cpu.max': 'max 100000\n' }, 8],
    ['two and a half', { 'cpu.max': '250000 100000\n' }, 2],
    ['a tenth', { 'cpu.max': '10000 100000\n' }, 1],
    ['more than there are', { 'cpu.max': '6400000 100000\n' }, 8],
    ['four, in the first version', { 'cpu/cpu.cfs_quota_us': '400000\n', 'cpu/cpu.cfs_period_us': '100000\n' }, 4],
    ['none, in the first version', { 'cpu/cpu.cfs_quota_us': '-1\n', 'cpu/cpu.cfs_period_us': '100000\n' }, 8],
    ['nonsense', { 'cpu.max': 'x y' }, 8],
  ];
  for (const [name, texts, cpus] of rows) test(name, () => equal(cpusWithin(8, files(texts)), cpus));
});
