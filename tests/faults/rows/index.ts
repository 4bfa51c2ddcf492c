// Bad inputs and faults that a model meets, each as a story that ends well or says why not. The numbers are those of the
// table that they come from; row 11, a crash between any two writes, has a file of its own.

import { describe, type TestContext, test } from 'node:test';
import { driftRows } from './drift.ts';
import { lifeRows } from './life.ts';
import type { Row } from './scene.ts';
import { serverRows } from './servers.ts';
import { storageRows } from './storage.ts';

export { onModelLane, play } from './play.ts';
export { crashAlways } from './scene.ts';
export { serverRows, storageRows };

const all: readonly Row[] = [...lifeRows, ...serverRows, ...storageRows, ...driftRows];

/** A test for each row: first those that must be played by themselves, then the others, several at once. */
export function eachRow(lanes: number, play: (row: Row, t: TestContext) => Promise<void>): void {
  const declare = (rows: readonly Row[]) => rows.forEach((row) => void test(row.name, (t) => play(row, t)));
  describe('by itself', () => declare(all.filter(({ changesKind }) => changesKind)));
  describe('beside others', { concurrency: lanes }, () => declare(all.filter(({ changesKind }) => !changesKind)));
}
