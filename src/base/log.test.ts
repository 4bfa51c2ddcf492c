import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Log, type LogOptions, makeLog } from './index.ts';

const now = () => Date.UTC(2030, 0, 2, 3, 4, 5, 678);

/** What a few log calls write, line by line. */
function written(options: Pick<LogOptions, 'format' | 'level'>, say: (log: Log) => void): string[] {
  const lines: string[] = [];
  say(makeLog({ ...options, now, write: (line) => lines.push(line) }));
  return lines;
}

const json = (say: (log: Log) => void) =>
  written({ format: 'json', level: 'debug' }, say).map((line) => JSON.parse(line) as Record<string, unknown>);
const text = (say: (log: Log) => void) => written({ format: 'text', level: 'debug' }, say);

describe('a log as JSON', () => {
  test('has one object a line: time, level, message, then the fields', () => {
    deepEqual(
      written({ format: 'json', level: 'info' }, (log) => log.info('Object changed', { name: 'iris', pass: 2 })),
      ['{"time":"2030-01-02T03:04:05.678Z","level":"info","message":"Object changed","name":"iris","pass":2}\n'],
    );
  });

  test('tells an error with the chain of its causes, in one line', () => {
    const refused = new Error('connect refused');
    const failed = new Error('cannot list pods', { cause: new Error('no answer', { cause: refused }) });
    deepEqual(
      json((log) => log.error('Watch failed', { error: failed })).map(({ error }) => error),
      ['cannot list pods: no answer: connect refused'],
    );
  });

  test('never fails over a field: not for a cycle, a BigInt, or one that is called message', () => {
    const cycle: Record<string, unknown> = { big: 1n };
    cycle['self'] = cycle;
    const [line] = json((log) => log.info('Said', { cycle, message: 'mine', level: 'odd' }));
    deepEqual(line?.['cycle'], { big: '1', self: '(repeated)' });
    deepEqual([line?.['message'], line?.['level']], ['Said', 'info']);
  });

  test('stays one line when a value has several', () => {
    const [line] = written({ format: 'json', level: 'info' }, (log) => log.info('Said', { text: 'a\nb' }));
    equal(line?.split('\n').length, 2);
  });
});

describe('a log as text', () => {
  test('has the time of day, the level and the fields as pairs', () => {
    deepEqual(
      text((log) => log.warn('Pass failed', { key: 'default/iris', tries: 3 })),
      ['03:04:05.678 WARN  Pass failed key=default/iris tries=3\n'],
    );
  });

  test('quotes what would not be one word', () => {
    deepEqual(
      text((log) => log.info('Said', { text: 'two words', none: undefined, list: [1], empty: '' })),
      ['03:04:05.678 INFO  Said text="two words" none=null list="[1]" empty=""\n'],
    );
  });
});

describe('a log', () => {
  test('says nothing below its level', () => {
    const lines = written({ format: 'text', level: 'warn' }, (log) => {
      log.debug('d');
      log.info('i');
      log.warn('w');
      log.error('e');
    });
    deepEqual(
      lines.map((line) => line.slice(13, 18).trim()),
      ['WARN', 'ERROR'],
    );
  });

  test('carries bound fields in every line, and a nearer value wins', () => {
    const lines = json((log) => {
      const bound = log.with({ kind: 'Trio', name: 'a' }).with({ name: 'b' });
      bound.info('one');
      bound.info('two', { name: 'c' });
      log.info('three');
    });
    deepEqual(
      lines.map(({ kind, name }) => [kind, name]),
      [
        ['Trio', 'b'],
        ['Trio', 'c'],
        [undefined, undefined],
      ],
    );
  });
});
