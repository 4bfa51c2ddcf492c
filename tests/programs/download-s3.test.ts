// Downloads from a real S3 server.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Desk } from '../kit/downloads.ts';
import { startOrigin } from '../kit/origin.ts';
import { s3User, startS3, type TestS3 } from '../kit/s3.ts';

const weights = randomBytes(20 * 1024 * 1024);
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const domain = 's3.example';

describe('a bucket', { timeout: 120_000 }, () => {
  let s3: TestS3;
  before(async () => {
    s3 = await startS3({ virtualHosts: domain });
    for (const bucket of ['models', 'other.models', 'empty']) await s3.put(bucket);
    await s3.put('models/iris/1/model.onnx', weights);
    await s3.put('models/iris/1/notes and (odd) +signs&.txt', 'notes');
    await s3.put('models/iris/1/empty', '');
    await s3.put('other.models/model.onnx', 'weights');
    for (let n = 0; n < 1_005; n++) await s3.put(`models/many/${n}.txt`, String(n));
    await s3.put('models/many/model.onnx', 'weights');
    await s3.put('models/twice/a', 'x');
    await s3.put('models/twice/A', 'x');
  });
  after(() => s3[Symbol.asyncDispose]());

  const at = (keys: Record<string, string> = {}) => {
    const desk = new Desk();
    desk.secret({ ...s3User, endpoint: s3.endpoint, region: 'eu-test-1', ...keys });
    return desk;
  };

  test('gives an object, in ranges', async () => {
    using desk = at();
    deepEqual(await desk.run('s3://models/iris/1/model.onnx'), {
      result: 'done',
      digest: `sha256:${sha256(weights)}`,
      bytes: weights.length,
    });
    deepEqual(Object.keys(desk.files()), ['model.onnx']);
  });

  test('gives all that is below a prefix, with the digest of the list', async () => {
    using desk = at();
    const word = await desk.run('s3://models/iris/1');
    const list = [
      `${sha256('')}  empty\n`,
      `${sha256(weights)}  model.onnx\n`,
      `${sha256('notes')}  notes and (odd) +signs&.txt\n`,
    ];
    deepEqual(word, { result: 'done', digest: `sha256:${sha256(list.join(''))}`, bytes: weights.length + 5 });
    deepEqual(Object.keys(desk.files()), ['empty', 'model.onnx', 'notes and (odd) +signs&.txt']);
  });

  test('gives more than one page', async () => {
    using desk = at();
    equal((await desk.run('s3://models/many/')).result, 'done');
    equal(Object.keys(desk.files()).length, 1_006);
  });

  test('is found by its own host, too', async () => {
    using desk = at({ endpoint: `http://{bucket}.${domain}:${new URL(s3.endpoint).port}` });
    const word = await desk.run('s3://models/iris/1/model.onnx');
    equal(word.result, 'done', JSON.stringify(word));
  });

  test('may have dots in its name', async () => {
    using desk = at();
    equal((await desk.run('s3://other.models/model.onnx')).result, 'done');
  });

  const rows: [string, string, Record<string, string>, string, RegExp][] = [
    ['without such an object', 's3://models/nothing', {}, 'EmptySource', /nothing below nothing\//],
    ['that is empty', 's3://empty/', {}, 'EmptySource', /nothing below the top/],
    ['that does not exist', 's3://missing/model.onnx', {}, 'SourceNotFound', /NoSuchBucket/],
    [
      'with a wrong key',
      's3://models/iris/1/model.onnx',
      { secretAccessKey: 'wrong' },
      'SourceUnauthorized',
      /SignatureDoesNotMatch/,
    ],
    [
      'with an unknown user',
      's3://models/iris/1/',
      { accessKeyID: 'nobody' },
      'SourceUnauthorized',
      /InvalidAccessKeyId|XAdminUserNotFound/,
    ],
    [
      'with another region',
      's3://models/iris/1/',
      { region: 'us-east-9' },
      'SourceUnauthorized',
      /region|AuthorizationHeaderMalformed|SignatureDoesNotMatch/,
    ],
    [
      'with a region that is none',
      's3://models/iris/1/',
      { region: 'eu test 1' },
      'SourceUnauthorized',
      /the key region/,
    ],
    ['with two names for one place', 's3://models/twice/', {}, 'UnsafeArchive', /twice/],
    ['with no name', 's3://UPPER/x', {}, 'SourceNotFound', /names no bucket/],
    ['with a key that leads out', 's3://models/../x', {}, 'UnsafeArchive', /leads out/],
  ];
  for (const [name, url, keys, verdict, said] of rows)
    test(`${name}: ${verdict}`, async () => {
      using desk = at(keys);
      const word = await desk.run(url);
      ok(word.result === 'verdict' && word.verdict === verdict, JSON.stringify(word));
      match(word.message, said);
      equal(/canary/.test(`${word.message}${desk.log}`), false);
    });
});

describe('a listing that never ends', { timeout: 60_000 }, () => {
  const page = (token: string) =>
    `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken></ListBucketResult>`;
  const rows: [string, (count: number) => string, string, RegExp, number][] = [
    ['because it names the same page again', () => 'again', 'EmptySource', /leads back/, 2],
    ['because it always names another', String, 'UnsafeArchive', /more than 1000 pages/, 1_000],
  ];
  for (const [why, token, verdict, said, asked] of rows)
    test(`${why}: ${verdict}`, async () => {
      let count = 0;
      await using origin = await startOrigin((_, response) => void response.end(page(token(count++))));
      using desk = new Desk();
      desk.secret({ endpoint: `http://${origin.host}` });
      const word = await desk.run('s3://models/iris/');
      ok(word.result === 'verdict' && word.verdict === verdict, JSON.stringify(word));
      match(word.message, said);
      equal(origin.requests.length, asked);
    });
});

describe('a bucket of another region', { timeout: 60_000 }, () => {
  const error = (code: string, inner = '') => `<Error><Code>${code}</Code>${inner}</Error>`;
  const header = { 'x-amz-bucket-region': 'eu-west-1' };
  const rows: [number, Record<string, string>, string][] = [
    [301, header, error('PermanentRedirect')],
    [301, header, ''],
    [307, header, error('TemporaryRedirect')],
    [400, {}, error('AuthorizationHeaderMalformed', '<Region>eu-west-1</Region>')],
  ];
  for (const [status, headers, body] of rows)
    test(`is named with the region to write, after ${status} ${body}`, async () => {
      await using origin = await startOrigin((_, response) => void response.writeHead(status, headers).end(body));
      using desk = new Desk();
      desk.secret({ endpoint: `http://${origin.host}` });
      for (const url of ['s3://models/iris.onnx', 's3://models/iris/']) {
        const word = await desk.run(url);
        ok(word.result === 'verdict' && word.verdict === 'SourceUnauthorized', JSON.stringify(word));
        match(word.message, /the bucket is in the region eu-west-1: write it into region of the Secret/);
      }
    });
});
