import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiError } from './client/index.ts';
import { type Feed, Follower } from './follow.ts';
import type { Entry, WatchEvent } from './parse.ts';

const entry = (name: string, version: string): Entry => ({
  object: { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'ns', uid: name, resourceVersion: version } },
  hand: 'none',
});

/** An event in short: `+a@5` added, `~a@6` modified, `-a@7` deleted, `!8` a bookmark, `!!9` the end of the first view. */
function event(text: string): WatchEvent {
  const [, sign = '', name = '', version = ''] = /^([+~-]|!!?)(\w*?)@?(\d+)$/.exec(text) ?? [];
  if (sign.startsWith('!')) return { type: 'BOOKMARK', resourceVersion: version, endsInitial: sign === '!!' };
  const type = { '+': 'ADDED', '~': 'MODIFIED', '-': 'DELETED' }[sign] as 'ADDED' | 'MODIFIED' | 'DELETED';
  return { type, entry: entry(name, version) };
}

/** Follows the events and writes down what the cache was told. */
function follow(from: string | undefined, events: string) {
  const told: string[] = [];
  const short = ({ object: { metadata } }: Entry) => `${metadata.name}@${metadata.resourceVersion}`;
  const feed: Feed = {
    held: (one) => one,
    replace: (entries, version, began) =>
      told.push(`view ${version} since ${began}: ${[...entries.values()].map(short).join(',')}`),
    changed: ({ type, entry: one }) => told.push(`${type} ${short(one)}`),
    passed: (version) => told.push(`passed ${version}`),
  };
  const follower = new Follower(feed, 7, from);
  for (const text of events.split(' ').filter(Boolean)) follower.take(event(text));
  return { told, follower };
}

describe('a watch that goes on from a known point', () => {
  const rows: { name: string; events: string; told: string[]; at: string }[] = [
    {
      name: 'tells each change',
      events: '+a@11 ~a@12 -a@13',
      told: ['ADDED a@11', 'MODIFIED a@12', 'DELETED a@13'],
      at: '13',
    },
    { name: 'refuses what is older than what it has seen', events: '+a@12 ~a@11', told: ['ADDED a@12'], at: '12' },
    { name: 'refuses a repetition', events: '+a@12 +a@12', told: ['ADDED a@12'], at: '12' },
    { name: 'refuses what is older, also of another object', events: '+a@12 +b@11', told: ['ADDED a@12'], at: '12' },
    { name: 'refuses what is older than its beginning', events: '~a@9 -a@10', told: [], at: '10' },
    { name: 'compares versions as numbers', events: '+a@99 ~a@100', told: ['ADDED a@99', 'MODIFIED a@100'], at: '100' },
    { name: 'moves on with a bookmark', events: '!20 ~a@15', told: ['passed 20'], at: '20' },
    { name: 'takes no step back with a bookmark', events: '+a@12 !11', told: ['ADDED a@12'], at: '12' },
    {
      name: 'a bookmark of where it stands is word that all was seen',
      events: '+a@12 !12',
      told: ['ADDED a@12', 'passed 12'],
      at: '12',
    },
  ];
  for (const { name, events, told, at } of rows)
    test(name, () => {
      const followed = follow('10', events);
      deepEqual([followed.told, followed.follower.resourceVersion, followed.follower.whole], [told, at, true]);
    });
});

describe('a watch that begins with a whole view', () => {
  test('tells nothing before the view is whole', () => {
    const { told, follower } = follow(undefined, '+a@5 +b@3 !4');
    deepEqual([told, follower.whole, follower.resourceVersion], [[], false, undefined]);
  });

  test('tells the view as one, with the time at which it began to be read, and then each change', () =>
    deepEqual(follow(undefined, '+a@5 +b@3 !!9 ~b@10').told, ['view 9 since 7: a@5,b@3', 'MODIFIED b@10']));

  test('knows what changed or went while the view built up', () =>
    deepEqual(follow(undefined, '+a@5 +b@3 ~b@6 -a@7 !!9').told, ['view 9 since 7: b@6']));

  test('refuses what the view has seen already', () =>
    deepEqual(follow(undefined, '+a@5 !!9 ~a@8').told, ['view 9 since 7: a@5']));
});

describe('a list in pages', () => {
  test('is a view when its last page is there', () => {
    const { told, follower } = follow(undefined, '');
    follower.collect(entry('a', '1'));
    follower.collect(entry('b', '2'));
    deepEqual(told, []);
    follower.complete('9');
    deepEqual([told, follower.resourceVersion], [['view 9 since 7: a@1,b@2'], '9']);
  });
});

test('an unchanged object is kept as it is held, not a second time', () => {
  const held = entry('a', '5');
  let view = new Map<string, Entry>();
  const feed: Feed = {
    held: () => held,
    replace: (entries) => void (view = entries),
    changed: () => {},
    passed: () => {},
  };
  const follower = new Follower(feed, 0, undefined);
  follower.collect(entry('a', '5'));
  follower.complete('9');
  equal(view.get('ns/a'), held);
});

test('an ERROR event is thrown as what the server said', () =>
  throws(
    () => new Follower({} as Feed, 0, '1').take({ type: 'ERROR', code: 410, reason: 'Expired', message: 'too old' }),
    (error) => error instanceof ApiError && error.status === 410 && error.reason === 'Expired',
  ));
