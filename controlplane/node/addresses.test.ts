import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesIn, overlap, places } from './addresses.ts';

for (const [a, b, together] of [
  ['10.61.0.0/16', '10.61.255.0/30', true],
  ['10.61.0.0/16', '10.62.0.0/16', false],
  ['10.0.0.0/8', '10.61.0.0/16', true],
  ['10.61.3.7', '10.61.0.0/16', true],
  ['192.0.2.0/24', '10.61.0.0/16', false],
] as const) {
  test(`${a} ${together ? 'meets' : 'does not meet'} ${b}`, () => {
    assert.equal(overlap(a, b), together);
    assert.equal(overlap(b, a), together);
  });
}

test('every place has a block of its own, and all addresses of a cluster are in it', () => {
  const all = Array.from({ length: places }, (_, place) => addressesIn(place));
  for (const [index, one] of all.entries()) {
    for (const other of all.slice(index + 1)) assert.equal(overlap(one.block, other.block), false);
    const own = [one.machine, one.outside, one.inside, one.node(1), one.node(2), one.pods(1), one.pods(2), one.nodes];
    for (const address of own) assert.ok(overlap(address, one.block), address);
    assert.equal(overlap(one.pods(1), one.nodes), false);
    assert.equal(overlap(one.pods(1), one.pods(2)), false);
  }
});
