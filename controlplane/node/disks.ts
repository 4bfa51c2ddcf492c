// The volumes on the disks of real nodes: folders beside the nodes' own, and for those with a limit a file system in the
// memory of the node.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RealNode } from './node.ts';
import type { Disks } from './volumes.ts';

/** The disks of these nodes, in the folder of their cluster. */
export function disksOf(folder: string, nodes: RealNode[]): Disks {
  const path = (node: string, name: string) => join(folder, 'nodes', node, 'volumes', name);
  const run = async (node: string, command: string[]) => {
    await nodes.find(({ name }) => name === node)?.run(command);
  };
  return {
    path,
    async make(node, name, limit) {
      const place = path(node, name);
      mkdirSync(place, { recursive: true });
      if (limit === undefined) return;
      const script =
        'if mountpoint -q "$0"; then exec mount -o "remount,$1" "$0"; fi; exec mount -t tmpfs -o "$1,mode=755" "$2" "$0"';
      await run(node, ['sh', '-c', script, place, `size=${limit}`, name]);
    },
    async remove(node, name) {
      await run(node, ['sh', '-c', `! mountpoint -q "$0" || umount "$0"`, path(node, name)]);
      rmSync(path(node, name), { recursive: true, force: true });
    },
  };
}
