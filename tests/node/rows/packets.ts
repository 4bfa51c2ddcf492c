// Counts packets in a node that go where no pod may send any: what a canary server cannot see, the filter does.

import { join } from 'node:path';
import { prepareReal } from '../../../controlplane/node/index.ts';
import type { Ground } from '../ground.ts';

const table = 'canary';

/** Begins to count in every node. */
export async function countPackets({ cluster }: Ground, addresses: readonly string[]): Promise<void> {
  const rules = addresses.map((address) => `    ip daddr ${address} counter name strays`);
  const text = `table ip ${table} {
  counter strays {
  }
  chain strays {
    type filter hook prerouting priority -400;
${rules.join('\n')}
  }
}
`;
  const nft = await program();
  for (const node of cluster.nodes) await node.run(['sh', '-c', 'printf %s "$1" | "$0" -f -', nft, text]);
}

const program = async (): Promise<string> => join((await prepareReal(() => {})).nft, 'nft');

/** How many there were, in all nodes. */
export async function packetsCounted({ cluster }: Ground): Promise<number> {
  const nft = await program();
  const counts = cluster.nodes.map(async (node) => {
    const said = await node.run([nft, 'list', 'counter', 'ip', table, 'strays']);
    return Number(/packets (\d+)/.exec(said)?.[1]);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
