// A cluster of real nodes needs a name for its link and a block of addresses on the machine. There are a few places
// for that; a process holds one by a name in the kernel that goes with it, so that no crash leaves a place taken.

import { acquire } from '../versions/lock.ts';
import { type Addresses, addressesIn, overlap, places } from './addresses.ts';
import { run } from './run.ts';

/** A place that this process holds. */
export interface Place {
  addresses: Addresses;
  /** Begins the name of the link; everything of that name is ours, or was left by a crash. */
  prefix: string;
  release(): void;
}

/** Takes the first free place; says why there is none. What a crash left there is removed. */
export async function takePlace(): Promise<Place> {
  const routes = await routesOfMachine();
  const reasons: string[] = [];
  for (let number = 0; number < places; number++) {
    const addresses = addressesIn(number);
    const prefix = `baton${number}-`;
    const stranger = routes.find(({ block, link }) => !link.startsWith(prefix) && overlap(block, addresses.block));
    if (stranger) {
      reasons.push(`${addresses.block} is routed to ${stranger.link}`);
      continue;
    }
    const release = await acquire(`\0baton-real-nodes-${number}`);
    if (release) {
      await removeLinks(prefix);
      return { addresses, prefix, release };
    }
    reasons.push(`${addresses.block} is another cluster's that runs now`);
  }
  throw new Error(`there is no place for one more cluster of real nodes on this machine: ${reasons.join('; ')}`);
}

interface Route {
  block: string;
  link: string;
}

async function routesOfMachine(): Promise<Route[]> {
  const found = JSON.parse(await run(['ip', '-4', '-json', 'route', 'show'])) as { dst: string; dev?: string }[];
  return found.filter(({ dst }) => dst !== 'default').map(({ dst, dev = 'nothing' }) => ({ block: dst, link: dev }));
}

async function removeLinks(prefix: string): Promise<void> {
  const links = JSON.parse(await run(['ip', '-json', 'link', 'show'])) as { ifname: string }[];
  for (const { ifname } of links.filter((link) => link.ifname.startsWith(prefix))) {
    // It may go at the same moment with the namespace at its other end.
    await run(['ip', 'link', 'delete', ifname]).catch(() => {});
  }
}
