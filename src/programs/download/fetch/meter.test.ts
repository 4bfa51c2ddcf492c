import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { Meter } from './meter.ts';

const flowing = async (meter: Meter, seconds: (second: () => string | undefined) => void) => {
  await meter.during(async () => seconds(() => meter.second()));
};

test('a source is too slow after a whole window of too little', async () => {
  const meter = new Meter({ least: 10, window: 3 });
  await flowing(meter, (second) => {
    meter.add(29);
    deepEqual([second(), second(), second()], [undefined, undefined, undefined]);
    match(second() ?? '', /^0 bytes came in 3 s of waiting; 10 a second are the least$/);
  });
});

test('enough in the window is enough, wherever in it', async () => {
  const meter = new Meter({ least: 10, window: 3 });
  await flowing(meter, (second) => {
    for (let n = 0; n < 12; n++) {
      if (n % 3 === 0) meter.add(30);
      equal(second(), undefined);
    }
  });
});

test('time in which nothing is on its way does not count', () => {
  const meter = new Meter({ least: 10, window: 2 });
  for (let n = 0; n < 10; n++) equal(meter.second(), undefined);
});

test('the total is told when all files have told', () => {
  const meter = new Meter({ least: 1, window: 1 });
  meter.announce('a', 10);
  meter.announce('b', undefined);
  meter.add(4);
  deepEqual(meter.progress, { bytes: 4 });
  meter.announce('b', 5);
  deepEqual(meter.progress, { bytes: 4, total: 15 });
  meter.count(-4);
  deepEqual(meter.progress, { bytes: 0, total: 15 });
});
