// What a caller may ask of a control plane.

import type { ComponentName } from './component.ts';

/** How a control plane is started; an empty object is a whole control plane without nodes. */
export type Options = Size & {
  /** The size at which etcd refuses writes; etcd's own default is 2 GiB. */
  etcdQuotaBytes?: number;
  /** More flags, for benches and for tests of bad starts. */
  flags?: Partial<Record<ComponentName, string[]>>;
  /** A folder of definitions of kinds that are there from the beginning: the garbage collector looks for others only twice a minute. */
  kinds?: string;
};

/** Nodes are nothing without the controllers that care for them. */
type Size =
  | {
      controllers?: 'all';
      /** Simulated nodes, called `node-1` and so on. */
      nodes?: number;
    }
  | {
      /** Only etcd and the API server, for tests of the API alone; pods then need no ServiceAccount. */
      controllers: 'none';
      nodes?: never;
    };
