// The addresses of one cluster of real nodes. All of them are in one block of 65,536 that the machine routes into the
// cluster and nowhere else, so that tests reach every pod and node, and a cluster beside it has another block.

/** The addresses of one cluster. */
export interface Addresses {
  /** The machine's own address in the cluster: pods reach a server of the test there. */
  machine: string;
  /** The other end of the link, where the machine reaches the control plane. */
  outside: string;
  /** The control plane, the registry and DNS, for nodes and pods. */
  inside: string;
  /** The whole block, as the machine routes it. */
  block: string;
  node(number: number): string;
  /** The pods of one node. */
  pods(number: number): string;
  /** All of the nodes' own addresses and the control plane's. */
  nodes: string;
}

/** How many clusters there can be at once. */
export const places = 8;

/** A block that container tools do not choose by themselves. */
const first = 61;

/** The addresses in one of the places. */
export function addressesIn(place: number): Addresses {
  const block = `10.${first + place}`;
  return {
    machine: `${block}.255.1`,
    outside: `${block}.255.2`,
    inside: `${block}.0.1`,
    block: `${block}.0.0/16`,
    node: (number) => `${block}.0.${10 + number}`,
    pods: (number) => `${block}.${number}.0/24`,
    nodes: `${block}.0.0/24`,
  };
}

/** The address of cluster DNS among the Services. */
export const dnsService = '10.96.0.10';

/** Whether two blocks in the form `10.61.0.0/16` have an address in common. */
export function overlap(a: string, b: string): boolean {
  const [left, right] = [rangeOf(a), rangeOf(b)];
  return left.from <= right.to && right.from <= left.to;
}

function rangeOf(block: string): { from: number; to: number } {
  const [address = '', bits = '32'] = block.split('/');
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  const from = number - (number % size);
  return { from, to: from + size - 1 };
}
