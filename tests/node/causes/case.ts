// The form of a cause on a real node: as on simulated ones, but that what is asked for needs the addresses of the ground.

import { Pod } from '../../../src/objects/index.ts';
import { type Case, podOf } from '../../cluster/causes/case.ts';
import { type Place, reported } from '../../kit/telling.ts';
import type { Ground } from '../ground.ts';

export interface RealCase extends Omit<Case, 'own'> {
  /** The name of the file in which the words of the cluster are kept for the judges. */
  recorded: string;
  own(ground: Ground): object;
}

type PodStatus = NonNullable<Pod['status']>;

/** When the kubelet or the scheduler first said so of a pod. */
export const saidOf =
  (component: 'server' | 'download', is: (status: PodStatus) => unknown) =>
  (place: Place): Promise<number> =>
    reported(place, Pod, podOf(component, is));

/** A script for Node in place of the server, in our own image. */
export const running = ({ image }: Ground, script: string) => ({
  server: { image, command: ['/usr/local/bin/node', '-e', script], args: [] },
});

/** A server whose startup probe is answered well, and every later one with an error. */
export const answersOnce = `let asked = 0;
require('node:http').createServer((_, response) => response.writeHead(asked++ ? 500 : 200).end()).listen(8080)`;
