import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeLog } from '../base/index.ts';
import { ConfigMap, Deployment } from '../objects/index.ts';
import { ApiError } from './client/index.ts';
import { Problems, watchProblem } from './problems.ts';

function problems() {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line.slice(13).trim());
  return { lines, problems: new Problems(makeLog({ level: 'info', format: 'text', now: () => 0, write })) };
}

describe('a problem', () => {
  test('is logged when it appears, when its words change and when it is solved, and in between only listed', () => {
    const { lines, problems: all } = problems();
    for (const words of ['no road', 'no road', 'no bridge', undefined, undefined]) all.set('weather', words);
    deepEqual(lines, [
      'ERROR a problem needs attention problem=weather what="no road"',
      'ERROR a problem needs attention problem=weather what="no bridge"',
      'INFO  a problem is solved problem=weather',
    ]);
  });

  test('that nobody has is not solved', () => {
    const { lines, problems: all } = problems();
    all.set('weather', undefined);
    deepEqual(lines, []);
  });

  test('stands in the list beside the others, until it is solved', () => {
    const { problems: all } = problems();
    all.set('weather', 'no road');
    all.set('time', 'too late');
    all.set('weather', undefined);
    deepEqual(all.list(), [{ name: 'time', words: 'too late' }]);
  });
});

const answered = (status: number) =>
  new ApiError({ status, reason: '', message: 'what was said', verb: 'watch', path: '/' });

describe('what keeps a watch from working', () => {
  const rows: { status: number; shared: boolean; absent?: true; words: RegExp }[] = [
    { status: 0, shared: true, words: /^what was said; check the server's address and the network/ },
    { status: 401, shared: true, words: /does not accept the credentials: what was said; check the token/ },
    { status: 403, shared: false, words: /^may not list and watch deployments\.apps: apply the generated roles/ },
    { status: 404, shared: false, absent: true, words: /^deployments\.apps is not served .* install its CRD/ },
  ];
  for (const { status, shared, absent, words } of rows)
    test(`status ${status} says what to do, and whom it concerns`, () => {
      const problem = watchProblem(answered(status), Deployment);
      match(problem?.words ?? '', words);
      deepEqual([problem?.shared, problem?.absent], [shared, absent]);
    });

  test('a kind of the core group is named without a dot', () =>
    match(watchProblem(answered(403), ConfigMap)?.words ?? '', /^may not list and watch configmaps:/));

  for (const status of [409, 410, 429, 500, 503])
    test(`status ${status} passes by itself`, () => equal(watchProblem(answered(status), Deployment), undefined));

  test('what is no answer of the server passes by itself', () =>
    equal(watchProblem(new Error('a broken line'), Deployment), undefined));
});
