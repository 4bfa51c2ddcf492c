import { equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lastLinesOf, lastOf, sentence, steady } from './words.ts';

const id = '0123456789abcdef'.repeat(4);

describe('steady', () => {
  const rows: { name: string; of: string | undefined; is: string }[] = [
    { name: 'nothing', of: undefined, is: '' },
    { name: 'several lines become one', of: ' a\n\tb  c\r\n', is: 'a b c' },
    { name: 'an id of a container or sandbox goes', of: `for sandbox "${id}": no`, is: 'for sandbox "…": no' },
    { name: 'a digest stays', of: `x@sha256:${id}`, is: `x@sha256:${id}` },
    {
      name: 'the port of the asking side goes',
      of: 'read tcp 10.0.1.7:4242->10.0.0.9:443: reset',
      is: 'read tcp 10.0.1.7->10.0.0.9:443: reset',
    },
    {
      name: 'also in IPv6',
      of: 'read tcp [fd00::7]:4242->[fd00::9]:443: reset',
      is: 'read tcp [fd00::7]->[fd00::9]:443: reset',
    },
    {
      name: 'the number of a request goes',
      of: 'StatusCode: 400, RequestID: 3c5a-11, api error',
      is: 'StatusCode: 400, RequestID: …, api error',
    },
    { name: 'control characters go', of: 'a\u0000\u0007b\u001B[1mc\u001B[0m', is: 'abc' },
  ];
  for (const { name, of, is } of rows) test(name, () => equal(steady(of), is));

  test('what is too long keeps its beginning and its end', () => {
    const long = steady(`begin ${'x'.repeat(5000)} end`);
    ok(long.startsWith('begin ') && long.endsWith(' end') && long.length < 1024);
  });
});

describe('lastLinesOf', () => {
  const rows: { name: string; of: string | undefined; is: string | undefined }[] = [
    { name: 'nothing', of: undefined, is: undefined },
    { name: 'only blank lines', of: ' \n\n', is: undefined },
    { name: 'no more than five', of: '1\n2\n3\n4\n5\n6\n\n', is: '2\n3\n4\n5\n6' },
    { name: 'indentation stays', of: 'Traceback:\n  at line 1\n', is: 'Traceback:\n  at line 1' },
    { name: 'a time in front goes', of: '2026-11-04T09:12:44.123Z ERROR no', is: 'ERROR no' },
    { name: 'a time in brackets goes', of: '[2026-11-04 09:12:44,871] no', is: 'no' },
    { name: 'a time with a zone and a colon goes', of: '2026/11/04 09:12:44 +0100: no', is: 'no' },
    { name: 'klog', of: 'E1104 09:12:44.000001       1 main.go:7] no', is: 'E main.go:7] no' },
    { name: 'a time in JSON goes', of: '{"ts":1762247564.1,"msg":"no"}', is: '{"msg":"no"}' },
    {
      name: 'a user in an address goes, and its query',
      of: 'GET https://bob:pw@models.example/iris?sig=c2ln: 403',
      is: 'GET https://…@models.example/iris?… 403',
    },
    {
      name: 'what is called a secret goes',
      of: 'PASSWORD=a aws_secret_access_key = "b", x',
      is: 'PASSWORD=… aws_secret_access_key = "…", x',
    },
    { name: 'also in JSON', of: '{"msg":"no","apiKey":"a b"}', is: '{"msg":"no","apiKey":"…"}' },
    { name: 'a header goes', of: 'Authorization: Bearer abcdefgh.ijk refused', is: 'Authorization: Bearer … refused' },
    {
      name: 'words about secrets stay',
      of: 'invalid token: 401, secret "a" not found, bad token',
      is: 'invalid token: 401, secret "a" not found, bad token',
    },
    { name: 'a progress bar that rewrites its line', of: '10%\r50%\rno', is: '10%\n50%\nno' },
  ];
  for (const { name, of, is } of rows) test(name, () => equal(lastLinesOf(of), is));

  test('no more than a KiB, the end of it', () => {
    const lines = lastLinesOf(`${'x'.repeat(4000)} end`);
    ok(lines?.endsWith(' end') && lines.length === 1024);
  });

  test('a cut inside a character leaves no half of it', () => ok(lastLinesOf('🙂'.repeat(2000))?.isWellFormed()));
});

test('lastOf is the last line', () => {
  equal(lastOf('a\nb'), 'b');
  equal(lastOf('a'), 'a');
  equal(lastOf(undefined), undefined);
});

test('a sentence carries words and advice, and admits when there are none', () => {
  equal(sentence('It failed', 'no room. ', 'make room'), 'It failed: no room (make room)');
  equal(sentence('It failed', ' '), 'It failed: no reason is given');
});
