// What both programs of the writes bench are asked, and what they answer. The Go program reads and writes the same.

import type { Deployment } from '../../src/objects/index.ts';

/** So many writes by so many workers, spread over so many objects made from the template. */
export interface Run {
  template: Deployment;
  objects: number;
  writes: number;
  workers: number;
  /** Stands in every object, so that every write changes something. */
  label: string;
}

/** What a run took: wall time and CPU time, in milliseconds. */
export interface Taken {
  ms: number;
  cpu: number;
}
