import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Heap, type Ranked } from './heap.ts';

interface Item extends Ranked {
  name: number;
}

test('the heap gives the lowest rank first, equals in the order in which they came, whatever was taken out', () => {
  const moves = fc.array(fc.record({ rank: fc.integer({ min: 0, max: 20 }), take: fc.nat() }), { maxLength: 200 });
  fc.assert(
    fc.property(moves, (steps) => {
      const heap = new Heap<Item>();
      let model: Item[] = [];
      for (const [name, { rank, take }] of steps.entries()) {
        const item = { name, rank: 0, order: 0, place: -1 };
        heap.put(item, rank);
        model.push(item);
        const victim = take % 3 === 0 ? model[take % model.length] : undefined;
        if (victim) heap.remove(victim);
        model = model.filter((other) => other !== victim);
      }
      const taken: Item[] = [];
      for (let first = heap.first(); first; first = heap.first()) {
        heap.remove(first);
        taken.push(first);
      }
      assert.deepEqual(
        taken.map(({ name }) => name),
        model.toSorted((a, b) => a.rank - b.rank || a.name - b.name).map(({ name }) => name),
      );
    }),
  );
});
