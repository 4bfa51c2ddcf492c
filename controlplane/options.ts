// What a caller may ask of a control plane.

import type { ComponentName } from './component.ts';

/** How a control plane is started; an empty object is a whole control plane without nodes. */
export interface Options {
  /** Simulated nodes, called `node-1` and so on. They need `controllers: 'all'`. */
  nodes?: number;
  /** `none`: only etcd and the API server, for tests of the API alone; pods then need no ServiceAccount. */
  controllers?: 'all' | 'none';
  /** The size at which etcd refuses writes; etcd's own default is 2 GiB. */
  etcdQuotaBytes?: number;
  /** More flags, for benches and for tests of bad starts. */
  flags?: Partial<Record<ComponentName, string[]>>;
}
