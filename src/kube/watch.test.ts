// One step of a watch: what it asks for, and what the end of a conversation means for the next one. The peer is a script
// of bytes; what a real API server does with these requests is told in tests/cluster and tests/faults.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  answer,
  chunk,
  lastChunk,
  type Reply,
  reset,
  ScriptedPeer,
  silence,
  streamHead,
} from '../../tests/kit/scripted-peer.ts';
import { systemClock } from '../base/index.ts';
import { ConfigMap } from '../objects/index.ts';
import { ApiError, Client } from './client/index.ts';
import { BrokenStream } from './parse.ts';
import { beginning, defaultLimits, type Limits, type Source, type State, step, watch } from './watch.ts';

const object = (name: string, version: string, more: object = {}) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'ns', uid: name, resourceVersion: version, ...more },
});
const event = (type: string, body: object) => `${JSON.stringify({ type, object: body })}\n`;
const added = (name: string, version: string) => event('ADDED', object(name, version));
const viewEnd = (version: string) =>
  event('BOOKMARK', object('', version, { annotations: { 'k8s.io/initial-events-end': 'true' } }));
const failure = (code: number, reason: string, message = '') => ({
  kind: 'Status',
  status: 'Failure',
  code,
  reason,
  message,
});

/** A stream of these lines, and then an end: clean, none at all, or a broken connection. */
const lines =
  (text: string, end: 'clean' | 'open' | 'broken' = 'clean'): Reply =>
  (socket) => {
    socket.write(streamHead);
    if (text) socket.write(chunk(text));
    if (end === 'clean') socket.write(lastChunk);
    if (end === 'broken') setTimeout(() => socket.resetAndDestroy(), 20);
  };

interface Given {
  from?: State;
  source?: Partial<Source>;
  limits?: Partial<Limits>;
  signal?: AbortSignal;
}

/** One step against the script: the next state, what the cache was told, what was reported and what was asked. */
async function stepped(
  script: Reply[],
  { from = beginning, source, limits, signal = AbortSignal.timeout(10_000) }: Given = {},
) {
  await using peer = await ScriptedPeer.start(script);
  const cluster = { server: `http://127.0.0.1:${peer.port}`, credential: () => ({ headers: [], tls: {} }) };
  const client = new Client({ cluster, clock: systemClock });
  const [told, well, trouble]: [string[], string[], unknown[]] = [[], [], []];
  const state = await step(from, {
    client,
    source: { kind: ConfigMap, metadataOnly: false, ...source },
    feed: {
      held: (entry) => entry,
      replace: (entries, version) => void told.push(`view ${version}: ${[...entries.keys()].join()}`),
      changed: ({ type, entry }) => void told.push(`${type} ${entry.object.metadata.name}`),
      passed: (version) => void told.push(`passed ${version}`),
    },
    report: {
      alive: () => {},
      well: () => void well.push('well'),
      trouble: (error) => void trouble.push(error),
      idle: () => false,
    },
    clock: systemClock,
    random: () => 1,
    limits: { ...defaultLimits, ...limits },
    signal,
  });
  await client.close();
  const asked = peer.heard.map(({ path }) => new URLSearchParams(path.split('?')[1]));
  return { state, told, well: well.length > 0, trouble, asked, heard: peer.heard };
}

const following = (resourceVersion = '9', more: Partial<State> | { viewed: number } = {}): State => ({
  at: 'following',
  failures: 0,
  listBy: 'stream',
  wait: 0,
  resourceVersion,
  viewed: systemClock.monotonic(),
  ...more,
});

/** A state in short. */
const short = ({ failures, listBy, ...state }: State) =>
  [
    state.at,
    state.at === 'following' && `from ${state.resourceVersion}`,
    listBy === 'pages' && 'by pages',
    failures > 0 && `failures ${failures}`,
  ]
    .filter(Boolean)
    .join(', ');

describe('a watch asks', () => {
  test('blind: for all that there is, and then for changes, with bookmarks', async () => {
    const { asked } = await stepped([lines(viewEnd('9'))], { source: { labelSelector: 'a in (b)' } });
    const [query] = asked;
    deepEqual(
      [
        'watch',
        'allowWatchBookmarks',
        'sendInitialEvents',
        'resourceVersionMatch',
        'resourceVersion',
        'labelSelector',
      ].map((key) => query?.get(key)),
      ['true', 'true', 'true', 'NotOlderThan', null, 'a in (b)'],
    );
    match(query?.get('timeoutSeconds') ?? '', /^[3-6]\d\d$/, 'the server ends it within ten minutes');
  });

  test('following: only for what came after', async () => {
    const { asked, well } = await stepped([lines('')], { from: following('9') });
    deepEqual(
      ['resourceVersion', 'allowWatchBookmarks', 'sendInitialEvents'].map((key) => asked[0]?.get(key)),
      ['9', 'true', null],
    );
    ok(well, 'it is well as soon as the server takes it');
  });

  test('for metadata only, where that is enough', async () => {
    const { heard } = await stepped([lines(viewEnd('9'))], { source: { metadataOnly: true } });
    match(heard[0]?.headers.find(([name]) => name === 'accept')?.[1] ?? '', /as=PartialObjectMetadata;/);
  });

  for (const listBy of ['stream', 'pages'] as const)
    test(`for a whole view after a long time, by ${listBy}`, async () => {
      const page = { metadata: { resourceVersion: '30' }, items: [object('a', '5')] };
      const script = listBy === 'stream' ? lines(added('a', '5') + viewEnd('30')) : answer(200, page);
      const from = following('9', { listBy, viewed: systemClock.monotonic() - 61_000 });
      const { state, told } = await stepped([script], { from, limits: { fresh: 60_000 } });
      deepEqual(told, ['view 30: ns/a']);
      ok(state.at === 'following' && systemClock.monotonic() - state.viewed < 60_000, 'and not at once again');
    });
});

describe('a streamed list', () => {
  for (const status of [400, 422])
    test(`that the server refuses with ${status} is followed by one in pages, and is no trouble`, async () => {
      const { state, trouble } = await stepped([answer(status, failure(status, 'Invalid'))]);
      deepEqual([state.at, state.listBy, trouble], ['blind', 'pages', []]);
    });

  test('that somebody may not have stays one', async () => {
    const { state } = await stepped([answer(403, failure(403, 'Forbidden'))]);
    equal(state.listBy, 'stream');
  });
});

describe('a view', () => {
  test('is told as one, and changes after it one by one', async () => {
    const { state, told, well, trouble } = await stepped([
      lines(added('a', '5') + added('b', '3') + viewEnd('9') + event('MODIFIED', object('a', '10'))),
    ]);
    deepEqual([told, well, trouble], [['view 9: ns/a,ns/b', 'MODIFIED a'], true, []]);
    equal(short(state), 'following, from 10');
  });

  test('that breaks off is no view', async () => {
    const { state, told, well } = await stepped([lines(added('a', '5'), 'broken')]);
    deepEqual([told, well, state.at], [[], false, 'blind']);
  });

  test('in pages is one when its last page is there', async () => {
    const page = (name: string, next: string) =>
      answer(200, { metadata: { resourceVersion: '30', continue: next }, items: [object(name, '5')] });
    const from: State = { ...beginning, listBy: 'pages' };
    const { state, told, asked } = await stepped([page('a', 'more'), page('b', '')], { from, limits: { pageSize: 1 } });
    deepEqual(told, ['view 30: ns/a,ns/b']);
    deepEqual(
      asked.map((query) => [query.get('limit'), query.get('continue')]),
      [
        ['1', null],
        ['1', 'more'],
      ],
    );
    equal(short(state), 'following, from 30, by pages');
  });

  test('in pages that grew too old on the way is begun anew', async () => {
    const first = answer(200, { metadata: { resourceVersion: '30', continue: 'more' }, items: [object('a', '5')] });
    const { state, told } = await stepped([first, answer(410, failure(410, 'Expired'))], {
      from: { ...beginning, listBy: 'pages' },
    });
    deepEqual([told, state.at], [[], 'blind']);
  });
});

const ends: { name: string; reply: Reply; next: string; wait: [least: number, most: number] }[] = [
  {
    name: 'a clean end after an event',
    reply: lines(event('MODIFIED', object('a', '12'))),
    next: 'following, from 12',
    wait: [0, 0],
  },
  { name: 'a clean end at once', reply: lines(''), next: 'following, from 9, failures 1', wait: [1, 800] },
  { name: 'a broken connection', reply: reset, next: 'following, from 9, failures 1', wait: [1, 800] },
  {
    name: 'a broken connection after an event',
    reply: lines(event('MODIFIED', object('a', '12')), 'broken'),
    next: 'following, from 12, failures 1',
    wait: [1, 800],
  },
  {
    name: 'a server in trouble',
    reply: answer(500, failure(500, 'InternalError')),
    next: 'following, from 9, failures 1',
    wait: [1, 800],
  },
  {
    name: 'a busy server',
    reply: answer(429, failure(429, 'TooManyRequests'), { 'retry-after': '2' }),
    next: 'following, from 9, failures 1',
    wait: [2_000, 2_000],
  },
  {
    name: 'a version that is too old',
    reply: answer(410, failure(410, 'Expired')),
    next: 'blind, failures 1',
    wait: [1, 800],
  },
  {
    name: 'a version that is too old, told within the stream',
    reply: lines(event('ERROR', failure(410, 'Expired', 'too old resource version: 9 (30)'))),
    next: 'blind, failures 1',
    wait: [1, 800],
  },
  {
    name: 'a version that is too old, told in a number alone',
    reply: lines(event('ERROR', failure(410, ''))),
    next: 'blind, failures 1',
    wait: [1, 800],
  },
  {
    name: 'a version that the server has not reached, as after a restore',
    reply: answer(504, failure(504, 'Timeout', 'Too large resource version: 9, current: 5')),
    next: 'blind, failures 1',
    wait: [1, 800],
  },
  {
    name: 'a missing right',
    reply: answer(403, failure(403, 'Forbidden')),
    next: 'blind, failures 1',
    wait: [3_000, 3_000],
  },
  {
    name: 'a missing kind',
    reply: answer(404, failure(404, 'NotFound')),
    next: 'blind, failures 1',
    wait: [3_000, 3_000],
  },
  {
    name: 'refused credentials',
    reply: answer(401, failure(401, 'Unauthorized')),
    next: 'following, from 9, failures 1',
    wait: [3_000, 3_000],
  },
  {
    name: 'a line that nobody understands',
    reply: lines('{"type":"MODI\n'),
    next: 'blind, failures 1',
    wait: [1, 800],
  },
];

describe('after', () => {
  for (const { name, reply, next, wait } of ends)
    test(`${name}: ${next}`, async () => {
      const { state } = await stepped([reply], { from: following('9') });
      equal(short(state), next);
      ok(state.wait >= wait[0] && state.wait <= wait[1], `it waits ${state.wait} ms`);
    });

  test('a kind that need not be served it is looked for as seldom as its definition says', async () => {
    const { state } = await stepped([answer(404, failure(404, 'NotFound'))], { source: { noticedWithin: 60_000 } });
    equal(state.wait, 60_000);
    const forbidden = await stepped([answer(403, failure(403, 'Forbidden'))], { source: { noticedWithin: 60_000 } });
    equal(forbidden.state.wait, 3_000, 'a missing right is somebody’s fault, and soon mended');
  });

  test('failure upon failure the wait grows, and stays below a second', async () => {
    const { state } = await stepped([reset], { from: following('9', { failures: 20 }) });
    deepEqual([state.failures, state.wait], [21, 800]);
  });

  test('a broken line nothing more is believed of the stream, and it is told', async () => {
    const { told, trouble } = await stepped([lines(`${added('a', '12')}not json\n${added('b', '13')}`, 'open')], {
      from: following('9'),
    });
    deepEqual(told, ['ADDED a']);
    ok(trouble[0] instanceof BrokenStream);
  });

  test('an error of the server it is told as it was said', async () => {
    const { trouble } = await stepped([answer(403, failure(403, 'Forbidden'))], { from: following('9') });
    ok(trouble[0] instanceof ApiError && trouble[0].status === 403);
  });
});

describe('a watch that falls silent', () => {
  test('while it follows is taken up again where it was, and nobody is alarmed', async () => {
    const { state, trouble } = await stepped([lines('', 'open')], {
      from: following('9'),
      limits: { idle: 60, listSilence: 30 },
    });
    deepEqual([state.at === 'following' && state.resourceVersion, state.listBy, trouble], ['9', 'stream', []]);
  });

  test('while its view builds up is followed by a list in pages', async () => {
    const { state, told } = await stepped([lines(added('a', '5'), 'open')], { limits: { listSilence: 30 } });
    deepEqual([state.at, state.listBy, told], ['blind', 'pages', []]);
  });

  test('before it even began, too', async () => {
    const { state } = await stepped([silence], { limits: { listSilence: 30 } });
    deepEqual([state.at, state.listBy], ['blind', 'pages']);
  });
});

test('a watch that is stopped ends without a word', async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 50);
  const { trouble } = await stepped([lines('', 'open')], { from: following('9'), signal: stop.signal });
  deepEqual(trouble, []);
});

test('a loop goes on through every end until it is stopped', async () => {
  await using peer = await ScriptedPeer.start([
    reset,
    lines(viewEnd('9')),
    lines('not json\n'),
    lines(viewEnd('20')),
    lines('', 'open'),
  ]);
  const cluster = { server: `http://127.0.0.1:${peer.port}`, credential: () => ({ headers: [], tls: {} }) };
  const client = new Client({ cluster, clock: systemClock });
  const stop = new AbortController();
  const views: string[] = [];
  await watch({
    client,
    source: { kind: ConfigMap, metadataOnly: false },
    feed: {
      held: (entry) => entry,
      replace(_entries, version) {
        views.push(version);
        if (version === '20') setTimeout(() => stop.abort(), 20);
      },
      changed: () => {},
      passed: () => {},
    },
    report: { alive: () => {}, well: () => {}, trouble: () => {}, idle: () => false },
    clock: systemClock,
    random: () => 0,
    limits: { ...defaultLimits, retry: { first: 1, most: 2 } },
    signal: AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]),
  });
  await client.close();
  deepEqual(views, ['9', '20']);
});
