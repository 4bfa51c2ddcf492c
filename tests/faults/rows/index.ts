// Bad inputs and faults that a model meets, each as a story that ends well or says why not. The numbers are those of the
// table that they come from; row 11, a crash between any two writes, has a file of its own.

import { driftRows } from './drift.ts';
import { lifeRows } from './life.ts';
import type { Row } from './scene.ts';
import { serverRows } from './servers.ts';
import { storageRows } from './storage.ts';

export { onModelLane, play } from './play.ts';
export { crashAlways } from './scene.ts';

/** All rows, the longest first, so that several at once end together. */
export const rows: readonly Row[] = [...lifeRows, ...serverRows, ...storageRows, ...driftRows];
