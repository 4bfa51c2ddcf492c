import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Metrics } from './metrics.ts';

test('a counter grows, one series for each set of labels, in whatever order they are named', () => {
  const metrics = new Metrics();
  const requests = metrics.counter('requests_total', 'Requests sent');
  requests.add({ verb: 'get', code: '200' });
  requests.add({ code: '200', verb: 'get' }, 2);
  requests.add({ verb: 'apply', code: '409' });
  assert.equal(
    metrics.text(),
    '# HELP requests_total Requests sent\n# TYPE requests_total counter\n' +
      'requests_total{code="200",verb="get"} 3\nrequests_total{code="409",verb="apply"} 1\n',
  );
  assert.throws(() => requests.add({}, -1), RangeError);
  assert.throws(() => requests.add({}, NaN), RangeError);
});

test('a metric without labels has no braces; two metrics follow one another', () => {
  const metrics = new Metrics();
  metrics.counter('restarts_total', 'r').add({}, 0);
  metrics.gauge('depth', 'd').set({}, 3);
  const text =
    '# HELP restarts_total r\n# TYPE restarts_total counter\nrestarts_total 0\n# HELP depth d\n# TYPE depth gauge\ndepth 3\n';
  assert.equal(metrics.text(), text);
});

test('a gauge may be anything a float can be', () => {
  const metrics = new Metrics();
  const gauge = metrics.gauge('g', 'g');
  const values = { a: -1.5, b: Infinity, c: -Infinity, d: NaN, e: 1e21 };
  for (const [of, value] of Object.entries(values)) gauge.set({ of }, value);
  gauge.set({ of: 'a' }, 2);
  const lines = metrics.text().split('\n').slice(2);
  assert.deepEqual(lines, ['g{of="a"} 2', 'g{of="b"} +Inf', 'g{of="c"} -Inf', 'g{of="d"} NaN', 'g{of="e"} 1e+21', '']);
});

test('a gauge with a look is looked up at every reading, and what is gone has no series', () => {
  const metrics = new Metrics();
  let found: [{ kind: string }, number][] = [
    [{ kind: 'A' }, 1],
    [{ kind: 'B' }, 2],
  ];
  metrics.gauge('queue_depth', 'Keys that wait', () => found);
  assert.match(metrics.text(), /gauge\nqueue_depth\{kind="A"\} 1\nqueue_depth\{kind="B"\} 2\n$/);
  found = [[{ kind: 'B' }, 5]];
  assert.match(metrics.text(), /gauge\nqueue_depth\{kind="B"\} 5\n$/);
});

test('the buckets of a histogram are cumulative, a bound counts itself, and infinity equals the count', () => {
  const metrics = new Metrics();
  const seconds = metrics.histogram('pass_seconds', 'Passes', [0.1, 1, 10]);
  for (const value of [0.05, 0.1, 0.5, 10, 99]) seconds.observe({ kind: 'Model' }, value);
  seconds.observe({}, 1);
  const lines = metrics.text().split('\n').slice(2, 12);
  assert.deepEqual(lines, [
    'pass_seconds_bucket{kind="Model",le="0.1"} 2',
    'pass_seconds_bucket{kind="Model",le="1"} 3',
    'pass_seconds_bucket{kind="Model",le="10"} 4',
    'pass_seconds_bucket{kind="Model",le="+Inf"} 5',
    'pass_seconds_sum{kind="Model"} 109.65',
    'pass_seconds_count{kind="Model"} 5',
    'pass_seconds_bucket{le="0.1"} 0',
    'pass_seconds_bucket{le="1"} 1',
    'pass_seconds_bucket{le="10"} 1',
    'pass_seconds_bucket{le="+Inf"} 1',
  ]);
});

test('wrong names, twice the same name, and bounds out of order fail where they are written', () => {
  const metrics = new Metrics();
  const counter = metrics.counter('once', 'x');
  assert.throws(() => metrics.gauge('once', 'x'), /exists already/);
  assert.throws(() => metrics.counter('with-dash', 'x'), /no name for a metric/);
  for (const label of ['__own', '1st', 'a-b', ''])
    assert.throws(() => counter.add({ [label]: '' }), /no name for a label/);
  const histogram = metrics.histogram('h', 'x', []);
  assert.throws(() => histogram.observe({ le: '1' }, 1), /"le" is taken/);
  for (const bounds of [
    [2, 1],
    [1, 1],
    [1, Infinity],
  ])
    assert.throws(() => metrics.histogram('another', 'x', bounds), /must ascend/);
});

test('any label value and any help text can be read back', () => {
  const special = fc.constantFrom('"', '\\', '\n', 'n', '{', '}', ',', '=', 'ü', '🚲');
  const text = fc.oneof(fc.string({ unit: special, maxLength: 8 }), fc.string({ unit: 'binary', maxLength: 20 }));
  fc.assert(
    fc.property(text, text, text, (first, second, help) => {
      const metrics = new Metrics();
      metrics.counter('c', help).add({ a: first, b: second });
      const [helpLine = '', type, series = '', ...rest] = metrics.text().split('\n');
      const [, a = '', b = ''] = /^c\{a="((?:[^"\\]|\\.)*)",b="((?:[^"\\]|\\.)*)"\} 1$/su.exec(series) ?? [];
      const read = (written: string) => written.replace(/\\(.)/gs, (_, one: string) => (one === 'n' ? '\n' : one));
      assert.deepEqual([read(a), read(b), rest], [first, second, ['']]);
      assert.equal(read(helpLine), `# HELP c ${help}`);
      assert.equal(type, '# TYPE c counter');
    }),
  );
});
