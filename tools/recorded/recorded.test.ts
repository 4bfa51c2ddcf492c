import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { grantedBy, unused, usedBy } from './permissions.ts';
import type { Recorded } from './request.ts';
import { canariesIn, isTooShort, Search, writtenBy } from './secrets.ts';

const ours = {
  'authorization.k8s.io/reason':
    'RBAC: allowed by ClusterRoleBinding "baton" of ClusterRole "baton" to ServiceAccount "baton/baton-system"',
};
const everybodys = {
  'authorization.k8s.io/reason':
    'RBAC: allowed by ClusterRoleBinding "system:basic-user" of ClusterRole "system:basic-user" to Group "system:authenticated"',
};
const jobs = { apiGroup: 'batch', resource: 'jobs' };

describe('permissions', () => {
  test('used are those that a role of the operator allowed', () => {
    deepEqual(usedBy({ verb: 'watch', objectRef: jobs, annotations: ours }), ['watch jobs.batch']);
    deepEqual(usedBy({ verb: 'create', objectRef: jobs, annotations: everybodys }), []);
    deepEqual(usedBy({ verb: 'create', objectRef: jobs }), [], 'it was refused');
    const logs = { resource: 'pods', subresource: 'log' };
    deepEqual(usedBy({ verb: 'get', objectRef: logs, annotations: ours }), ['get pods/log']);
  });

  test('an apply that makes its object creates it', () => {
    const applied = (code: number) =>
      usedBy({ verb: 'patch', objectRef: jobs, annotations: ours, responseStatus: { code } });
    deepEqual(applied(201), ['patch jobs.batch', 'create jobs.batch']);
    deepEqual(applied(200), ['patch jobs.batch']);
  });

  test('that nothing uses are told, and exceptions that are none', () => {
    const granted = new Set(
      grantedBy([{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch'] }]),
    );
    deepEqual(unused(granted, new Set(['get jobs.batch', 'list jobs.batch', 'watch jobs.batch']), []), []);
    deepEqual(unused(granted, new Set(['get jobs.batch', 'list jobs.batch']), ['watch jobs.batch']), []);
    deepEqual(unused(granted, new Set(['get jobs.batch', 'list jobs.batch']), ['list jobs.batch']), [
      'granted and never used: watch jobs.batch (take it away, or let a test use it)',
      'used, or not granted, and yet an exception: list jobs.batch',
    ]);
  });
});

describe('Secrets', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const secret = (requestObject: Record<string, unknown>): Recorded => ({
    verb: 'create',
    objectRef: { resource: 'secrets', namespace: 'one', name: 'keys' },
    requestObject,
  });

  test('have a canary in every value', () => {
    const found = canariesIn(secret({ data: { token: base64('hf_0123456') }, stringData: { other: 'short' } }));
    deepEqual(found, [
      { value: 'hf_0123456', owner: 'Secret one/keys, key token' },
      { value: 'short', owner: 'Secret one/keys, key other' },
    ]);
    deepEqual(found.map(isTooShort), [false, true]);
    deepEqual(canariesIn({ verb: 'create', objectRef: jobs, requestObject: { data: { a: 'b' } } }), []);
  });

  test('tell everybody where a source is', () => {
    deepEqual(canariesIn(secret({ stringData: { endpoint: 'http://bucket.example', region: 'eu-west-1' } })), []);
  });

  test('with a login to a registry have it in the password alone', () => {
    const auths = {
      'registry.example': { username: 'robot', password: 'open+sesame', auth: base64('robot:open+sesame') },
    };
    const data = { '.dockerconfigjson': base64(JSON.stringify({ auths })) };
    deepEqual(
      canariesIn(secret({ data })).map(({ value }) => value),
      ['open+sesame', base64('robot:open+sesame')],
    );
  });

  test('are found as they are, in base64 and in a URL', () => {
    const search = new Search([{ value: 'open+sesame', owner: 'it' }]);
    for (const text of ['open+sesame', `x${base64('open+sesame')}`, 'https://a:open%2Bsesame@b'])
      equal(search.ownerIn(`a line with ${text} in it`), 'it', text);
    equal(search.ownerIn('opensesame'), undefined, 'a value is no pattern');
    equal(new Search([]).ownerIn('anything'), undefined);
  });

  test('are found behind a name and before something else in base64', () => {
    const search = new Search([{ value: 'open+sesame', owner: 'it' }]);
    for (const before of ['', 'a', 'ab', 'abc'])
      for (const behind of ['', 'x', 'xy', 'xyz'])
        equal(search.ownerIn(`Basic ${base64(`${before}open+sesame${behind}`)}`), 'it', `${before}_${behind}`);
    equal(search.ownerIn(base64('robot:open-sesame')), undefined);
  });

  test('of several lines are found by the longest of them, however their ends are written', () => {
    const key = '-- BEGIN --\nMIIEvQIBADANBg\n-- END --\n';
    const search = new Search([{ value: key, owner: 'it' }]);
    for (const text of [...key.split('\n').slice(1, 2), JSON.stringify({ key }), base64(key), encodeURIComponent(key)])
      equal(search.ownerIn(text), 'it', text);
    equal(search.ownerIn('-- BEGIN --'), undefined);
    equal(isTooShort({ value: 'a\nb\nc\nd\ne\nf', owner: 'it' }), true);
  });

  test('with quotes are found in JSON', () => {
    const value = 'open "the" \\ sesame';
    equal(new Search([{ value, owner: 'it' }]).ownerIn(JSON.stringify({ message: `it is ${value}` })), 'it');
  });

  test('are looked for in what the operator wrote', () => {
    equal(writtenBy({ verb: 'patch', objectRef: jobs, annotations: ours, requestObject: { a: 1 } }), '{"a":1}');
    equal(writtenBy({ verb: 'patch', objectRef: jobs, requestObject: { a: 1 } }), undefined, 'somebody else');
    equal(writtenBy({ verb: 'list', objectRef: jobs, annotations: ours }), undefined);
  });
});
