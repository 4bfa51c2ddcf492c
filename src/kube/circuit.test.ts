import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../tests/kit/clock.ts';
import { Circuit } from './circuit.ts';

function aCircuit() {
  const clock = new FakeClock();
  const circuit = new Circuit({ clock });
  const write = async (times: number, every: number, child = 'Deployment web', generation = 1) => {
    for (let i = 0; i < times; i++) {
      circuit.wrote('shop/a', child, generation, 'spec.replicas differs');
      await clock.advance(every);
    }
  };
  return { clock, circuit, write, open: (generation = 1) => circuit.openFor('shop/a', generation) };
}

describe('circuit', () => {
  test('pitfall 19: the 21st write to one child within a minute opens the circuit, and it says why', async () => {
    const { clock, write, open } = aCircuit();
    await write(20, 500);
    assert.equal(open(), undefined);
    await write(1, 0);
    assert.deepEqual(open(), {
      until: clock.monotonic() + 300_000,
      child: 'Deployment web',
      why: 'Deployment web was written 21 times in 60 s with nothing new asked for; last because spec.replicas differs',
    });
  });

  test('writes that are spread out, or go to several children, are no fight', async () => {
    const { write, open } = aCircuit();
    await write(100, 3_100);
    for (let i = 0; i < 100; i++) await write(1, 0, `ConfigMap c${i}`);
    assert.equal(open(), undefined);
  });

  test('a new generation closes the circuit at once, and the count begins anew', async () => {
    const { write, open } = aCircuit();
    await write(21, 100);
    assert.ok(open(1));
    assert.equal(open(2), undefined);
    await write(20, 100, 'Deployment web', 2);
    assert.equal(open(2), undefined);
    await write(1, 100, 'Deployment web', 2);
    assert.ok(open(2));
  });

  test('other keys are not concerned', async () => {
    const { circuit, write } = aCircuit();
    await write(21, 100);
    assert.equal(circuit.openFor('shop/b', 1), undefined);
  });

  test('a write that was on its way when the circuit opened does not prolong it', async () => {
    const { write, open } = aCircuit();
    await write(21, 0);
    const until = open()?.until;
    await write(30, 100);
    assert.equal(open()?.until, until);
  });

  test('after the pause one write may mend the rest; a second one within the window opens it again', async () => {
    const { clock, write, open } = aCircuit();
    await write(21, 0);
    await clock.advance(299_999);
    assert.ok(open());
    await clock.advance(1);
    assert.equal(open(), undefined);
    await write(1, 1_000);
    assert.equal(open(), undefined);
    await write(1, 1_000);
    assert.ok(open());
  });

  test('on trial another child has its whole limit', async () => {
    const { clock, write, open } = aCircuit();
    await write(21, 0);
    await clock.advance(300_000);
    assert.equal(open(), undefined);
    await write(20, 100, 'ConfigMap settings');
    assert.equal(open(), undefined);
  });

  test('a trial that goes well for a whole window ends the matter', async () => {
    const { clock, write, open } = aCircuit();
    await write(21, 0);
    await clock.advance(300_000);
    assert.equal(open(), undefined);
    await write(1, 60_000);
    await write(20, 100);
    assert.equal(open(), undefined);
  });

  test('what is long over or gone is not remembered', async () => {
    const { clock, circuit } = aCircuit();
    for (let i = 0; i < 1_000; i++) circuit.wrote(`shop/${i}`, 'Job fetch', 1, 'it was missing');
    assert.equal(circuit.size, 1_000);
    circuit.forget('shop/0');
    assert.equal(circuit.size, 999);
    await clock.advance(360_000);
    circuit.wrote('shop/new', 'Job fetch', 1, 'it was missing');
    assert.equal(circuit.size, 1);
  });

  test('a jump of the wall clock changes nothing', async () => {
    const { clock, write, open } = aCircuit();
    await write(21, 100);
    clock.jump(86_400_000);
    assert.ok(open());
    clock.jump(-172_800_000);
    assert.ok(open());
  });
});
