// Every fault that the proxy does to a single request, on the real API server: what the caller sees, what the server
// stored, and what the trace says of it.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import type { Action, Plan, Refusal } from '../../controlplane/faults/index.ts';
import { type Ended, eventually, map, maps, pause, type Stage, setStage } from './caller.ts';

let stage: Stage;
let count = 0;

before(async () => void (stage = await setStage()), { timeout: 120_000 });
afterEach(() => stage.clear());
after(() => stage.stop());

/** A name that no other test uses. */
const fresh = () => `map-${++count}`;
const atFirstWrite = (action: Action): Plan => [{ when: { write: {} }, do: action }];
const answered = (ended: Ended) => ('status' in ended ? ended : assert.fail(`broken off: ${ended.broken}`));
const broken = (ended: Ended) => ('broken' in ended ? ended : assert.fail(`answered with ${ended.status}`));
const stored = async (name: string) => answered(await stage.direct.call('GET', `${maps}/${name}`)).status === 200;

/** Sends one create through a proxy with this action at the first write. */
async function createUnder(action: Action) {
  const name = fresh();
  const { proxy, caller } = await stage.through({ plan: atFirstWrite(action) });
  const ended = await caller.call('POST', maps, map(name));
  return { name, proxy, caller, ended, call: proxy.trace.writes()[0] ?? assert.fail('no write in the trace') };
}

describe('without a plan', () => {
  test('the caller keeps its own rights, and a kubeconfig leads to the proxy', async () => {
    const { proxy, caller } = await stage.through();
    assert.equal(answered(await caller.call('GET', maps)).status, 200);
    const refused = answered(await caller.call('GET', '/api/v1/namespaces/default/secrets'));
    assert.equal(refused.status, 403);
    assert.match(refused.body.message ?? '', /system:serviceaccount:default:caller/);
    assert.equal(proxy.trace.requests({ resource: 'secrets' })[0]?.answer?.reason, 'Forbidden');
    const config = parse(proxy.kubeconfig('tok')) as {
      clusters: { cluster: { server: string } }[];
      users: { user: { token: string } }[];
    };
    assert.equal(config.clusters[0]?.cluster.server, proxy.url);
    assert.equal(config.users[0]?.user.token, 'tok');
  });

  test('the life of an object is in the trace, and which of its writes changed something', async () => {
    const { proxy, caller } = await stage.through();
    const name = fresh();
    const apply = (value: string, query = '') =>
      caller.call(
        'PATCH',
        `${maps}/${name}?fieldManager=tester${query}`,
        map(name, { value }),
        'application/apply-patch+yaml',
      );
    const created = answered(await caller.call('POST', maps, map(name))).body;
    await apply('1');
    await apply('1');
    await apply('2', '&dryRun=All');
    const stale = { ...map(name), metadata: { name, resourceVersion: created.metadata.resourceVersion } };
    await caller.call('PUT', `${maps}/${name}`, stale);
    await caller.call('DELETE', `${maps}/${name}`);
    const seen = proxy.trace.calls.map(({ verb, answer, effective }) => [
      verb,
      answer?.status,
      answer?.reason,
      effective,
    ]);
    assert.deepEqual(seen, [
      ['create', 201, '', true],
      ['apply', 200, '', true],
      ['apply', 200, '', false],
      ['apply', 200, '', undefined],
      ['update', 409, 'Conflict', false],
      ['delete', 200, '', true],
    ]);
    assert.equal(proxy.trace.writes().length, 5);
    assert.ok(proxy.trace.calls.every((call) => call.name === name && call.deliveredAt !== undefined));
    const [create, first, second, , update] = proxy.trace.calls;
    assert.equal(create?.answer?.uid, created.metadata.uid);
    assert.equal(create?.answer?.resourceVersion, created.metadata.resourceVersion);
    assert.equal(update?.resourceVersion, created.metadata.resourceVersion);
    assert.deepEqual([first?.fieldManager, first?.userAgent], ['tester', 'caller/1']);
    assert.equal(first?.bodyHash, second?.bodyHash);
    assert.notEqual(first?.bodyHash, create?.bodyHash);
  });

  test('an apply that changes nothing is not effective either when only a list had shown the object', async () => {
    const { proxy, caller } = await stage.through();
    const name = fresh();
    const apply = (who: typeof caller) =>
      who.call(
        'PATCH',
        `${maps}/${name}?fieldManager=t&force=true`,
        map(name, { a: '1' }),
        'application/apply-patch+yaml',
      );
    await apply(stage.direct);
    await caller.call('GET', `${maps}?limit=1`);
    await apply(caller);
    assert.equal(proxy.trace.writes()[0]?.effective, false);
  });

  test('marks and times cut a part out of the trace', async () => {
    const { proxy, caller } = await stage.through();
    await caller.call('GET', `${maps}/one`);
    const mark = proxy.trace.mark();
    const from = performance.now();
    await caller.call('GET', `${maps}/two`);
    const to = performance.now();
    await caller.call('GET', `${maps}/three`);
    const names = (calls: { name: string }[]) => calls.map(({ name }) => name);
    assert.deepEqual(names(proxy.trace.since(mark).calls), ['two', 'three']);
    assert.deepEqual(names(proxy.trace.between(from, to).calls), ['two']);
    assert.deepEqual(names(proxy.trace.requests({ name: ['one', 'three'] })), ['one', 'three']);
  });
});

describe("refusals in the API server's words", () => {
  const refusals: [Refusal, number][] = [
    ['Conflict', 409],
    ['AlreadyExists', 409],
    ['Expired', 410],
    ['Invalid', 422],
    ['TooManyRequests', 429],
    ['InternalError', 500],
    ['BadGateway', 502],
    ['ServiceUnavailable', 503],
    ['Timeout', 504],
  ];
  for (const [reason, code] of refusals)
    test(`${code} ${reason}`, async () => {
      const { name, ended, call } = await createUnder({ kind: 'status', reason });
      const { status, body, headers } = answered(ended);
      assert.deepEqual([status, body.kind, body.reason], [code, 'Status', reason]);
      assert.deepEqual([body.details?.kind, body.details?.name], ['configmaps', name]);
      assert.equal(headers['content-type'], 'application/json');
      assert.deepEqual([call.sentAt, call.answer?.status, call.effective], [undefined, code, false]);
      assert.equal(await stored(name), false);
    });

  test('429 with Retry-After, in the header and in the details', async () => {
    const { ended } = await createUnder({ kind: 'status', reason: 'TooManyRequests', retryAfter: 3 });
    const { headers, body } = answered(ended);
    assert.deepEqual([headers['retry-after'], body.details?.retryAfterSeconds], ['3', 3]);
  });

  test('410 on a list and on a watch', async () => {
    const plan: Plan = [
      { when: { request: { verb: ['list', 'watch'] } }, do: { kind: 'status', reason: 'Expired' }, times: 2 },
    ];
    const { caller } = await stage.through({ plan });
    assert.equal(answered(await caller.call('GET', maps)).body.reason, 'Expired');
    await assert.rejects(caller.watch(), /410/);
    assert.equal(answered(await caller.call('GET', maps)).status, 200);
  });
});

describe('lost on the way', () => {
  test('dropBefore: the connection breaks and nothing is stored', async () => {
    const { name, ended, call } = await createUnder({ kind: 'dropBefore' });
    assert.match(broken(ended).broken, /ECONNRESET|socket hang up/);
    assert.deepEqual([call.sentAt, call.answer], [undefined, undefined]);
    assert.equal(await stored(name), false);
  });

  test('dropAfter: the connection breaks and it is stored', async () => {
    const { name, ended, call } = await createUnder({ kind: 'dropAfter' });
    assert.match(broken(ended).broken, /ECONNRESET|socket hang up/);
    assert.deepEqual([call.answer?.status, call.effective, call.deliveredAt], [201, true, undefined]);
    assert.equal(await stored(name), true);
  });

  test('hang: accepted and silent, and the socket stays open', async () => {
    const { caller } = await stage.through({ plan: atFirstWrite({ kind: 'hang' }) });
    const name = fresh();
    const call = caller.call('POST', maps, map(name));
    assert.equal(await Promise.race([call, pause(500).then(() => 'silent')]), 'silent');
    assert.equal(answered(await caller.call('GET', maps)).status, 200);
    assert.equal(await stored(name), false);
  });

  test('delay: late on the way there, or on the way back', async () => {
    for (const at of ['request', 'answer'] as const) {
      const { ended, call } = await createUnder({ kind: 'delay', ms: 300, at });
      const { at: answer = 0 } = call.answer ?? {};
      assert.equal(answered(ended).status, 201);
      assert.ok((call.deliveredAt ?? 0) - call.at >= 295);
      assert.equal(answer - call.at >= 295, at === 'request');
    }
  });

  test('truncate: the first bytes, then a break, or an end as if that were all', async () => {
    const cut = broken((await createUnder({ kind: 'truncate', bytes: 20 })).ended);
    assert.equal(cut.text, '{"kind":"ConfigMap",');
    const clean = answered((await createUnder({ kind: 'truncate', bytes: 20, end: 'clean' })).ended);
    assert.deepEqual([clean.status, clean.text], [201, '{"kind":"ConfigMap",']);
  });

  test('drip: the whole answer, slowly', async () => {
    const from = performance.now();
    const { text, body } = answered((await createUnder({ kind: 'drip', bytes: 20, ms: 20 })).ended);
    assert.equal(body.kind, 'ConfigMap');
    assert.ok(performance.now() - from >= Math.floor(text.length / 20 - 1) * 19);
  });
});

describe('connections', () => {
  test('refuse: those that are open break, new ones too, until they are accepted again', async () => {
    const { proxy, caller } = await stage.through({ plan: atFirstWrite({ kind: 'connections', manner: 'refuse' }) });
    broken(await caller.call('POST', maps, map(fresh())));
    broken(await caller.call('GET', maps));
    await proxy.now({ kind: 'connections', manner: 'accept' });
    assert.equal(answered(await caller.call('GET', maps)).status, 200);
  });

  test('stall: a new connection hangs before it is secure', async () => {
    const { proxy, caller } = await stage.through();
    await proxy.now({ kind: 'connections', manner: 'stall' });
    const call = caller.call('GET', maps);
    assert.equal(await Promise.race([call, pause(500).then(() => 'silent')]), 'silent');
    assert.equal(proxy.trace.calls.length, 0);
    await proxy.stop();
    broken(await call);
  });
});

describe('held by the test', () => {
  test('a write stays on the wire until it is released', async () => {
    const { proxy, caller } = await stage.through({ plan: atFirstWrite({ kind: 'hold', name: 'first' }) });
    const name = fresh();
    const call = caller.call('POST', maps, map(name));
    assert.equal((await proxy.holding('first')).name, name);
    assert.equal(await stored(name), false);
    proxy.release('first');
    assert.equal(answered(await call).status, 201);
  });

  test('an answer too, and the object is stored meanwhile', async () => {
    const { proxy, caller } = await stage.through({
      plan: atFirstWrite({ kind: 'hold', name: 'first', at: 'answer' }),
    });
    const name = fresh();
    const call = caller.call('POST', maps, map(name));
    await proxy.holding('first');
    assert.equal(await stored(name), true);
    proxy.clearPlan();
    assert.equal(answered(await call).status, 201);
  });

  test('a write goes through on release though its caller is long gone', async () => {
    const { proxy } = await stage.through({ plan: atFirstWrite({ kind: 'hold', name: 'first' }) });
    const name = fresh();
    const gone = new AbortController();
    const { Agent, fetch } = await import('undici');
    const dispatcher = new Agent({ connect: { ca: proxy.caPem } });
    const headers = { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(map(name)), dispatcher, signal: gone.signal };
    const call = fetch(`${proxy.url}${maps}`, init).then(
      () => 'answered',
      () => 'left',
    );
    await proxy.holding('first');
    gone.abort();
    assert.equal(await call, 'left');
    proxy.release('first');
    await eventually(() => proxy.trace.writes()[0]?.answer?.status === 201);
    assert.equal(await stored(name), true);
    await dispatcher.destroy();
  });
});

describe('the operator is hit', () => {
  const moments = [
    { at: 'received', stored: false, answered: true },
    { at: 'applied', stored: true, answered: false },
    { at: 'delivered', stored: true, answered: true },
  ] as const;
  for (const moment of moments)
    test(`kill when the second write is ${moment.at}`, async () => {
      const names = [fresh(), fresh()];
      const told: unknown[] = [];
      const kill = async () => void told.push(await stored(names[1] ?? ''));
      const operator = { kill, pause: () => assert.fail(), resume: () => assert.fail() };
      const plan: Plan = [{ when: { write: {}, nth: 2 }, do: { kind: 'kill', at: moment.at } }];
      const { caller, proxy } = await stage.through({ plan, operator });
      answered(await caller.call('POST', maps, map(names[0] ?? '')));
      const ended = await caller.call('POST', maps, map(names[1] ?? ''));
      await eventually(() => told.length > 0);
      assert.deepEqual(told, [moment.stored]);
      assert.equal('status' in ended, moment.answered);
      assert.deepEqual(proxy.firings(), [1]);
    });

  test('pause at a write, resume after a time', async () => {
    const told: string[] = [];
    const operator = {
      kill: () => assert.fail(),
      pause: () => void told.push('pause'),
      resume: () => void told.push('resume'),
    };
    const plan: Plan = [
      { when: { write: {} }, do: { kind: 'pause', at: 'received' } },
      { when: { after: 300 }, do: { kind: 'resume' } },
    ];
    const { caller } = await stage.through({ plan, operator });
    await caller.call('POST', maps, map(fresh()));
    assert.deepEqual(told, ['pause']);
    await eventually(() => told.length === 2);
    assert.deepEqual(told, ['pause', 'resume']);
  });

  test('a plan that wants to hit nobody is refused', async () => {
    const { proxy } = await stage.through();
    assert.throws(() => proxy.setPlan(atFirstWrite({ kind: 'kill' })), /no operator process/);
  });
});
