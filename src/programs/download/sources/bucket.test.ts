// Signatures against the examples that AWS publishes, and where buckets are.

import { equal, match, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '../../../base/index.ts';
import { Refused } from '../outcome.ts';
import { Bucket } from './bucket.ts';

const secrets = {
  accessKeyID: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  endpoint: 'https://{bucket}.s3.amazonaws.com',
};
const clock = { ...systemClock, now: () => Date.UTC(2013, 4, 24) };

describe('a signature', () => {
  const published: [string, string][] = [
    ['/?lifecycle', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['/?max-keys=2&prefix=J', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ];
  for (const [path, signature] of published)
    test(`of ${path} is the published one`, async () => {
      const bucket = new Bucket('examplebucket', secrets, clock);
      const headers = await bucket.authorize?.(new URL(path, bucket.object('')));
      equal(
        headers?.['authorization'],
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
          `SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
      );
    });

  test('holds the token of a session', async () => {
    const bucket = new Bucket('models', { ...secrets, sessionToken: 'session' }, clock);
    const headers = await bucket.authorize?.(bucket.object('x'));
    equal(headers?.['x-amz-security-token'], 'session');
    match(headers?.['authorization'] ?? '', /x-amz-security-token/);
  });

  test('is not made without keys', () => equal(new Bucket('public', {}, clock).authorize, undefined));
});

describe('a bucket', () => {
  const rows: [string, string, Record<string, string>, string][] = [
    [
      'at the well-known place has a host of its own',
      'models',
      { region: 'eu-west-1' },
      'https://models.s3.eu-west-1.amazonaws.com/a/b%20c',
    ],
    ['with dots is found by path there', 'my.models', {}, 'https://s3.us-east-1.amazonaws.com/my.models/a/b%20c'],
    [
      'in China is in another domain',
      'models',
      { region: 'cn-north-1' },
      'https://models.s3.cn-north-1.amazonaws.com.cn/a/b%20c',
    ],
    [
      'at an endpoint is found by path',
      'models',
      { endpoint: 'http://minio.storage:9000/' },
      'http://minio.storage:9000/models/a/b%20c',
    ],
    [
      'at an endpoint without a scheme is reached by TLS',
      'models',
      { endpoint: 'minio.storage:9000' },
      'https://minio.storage:9000/models/a/b%20c',
    ],
    [
      'at an endpoint with a place for it has a host of its own',
      'models',
      { endpoint: 'https://{bucket}.s3.example' },
      'https://models.s3.example/a/b%20c',
    ],
  ];
  for (const [name, bucket, keys, url] of rows)
    test(name, () => equal(new Bucket(bucket, keys, clock).object('a/b c').href, url));

  test('at an endpoint that is no URL is refused', () => {
    throws(() => new Bucket('models', { endpoint: 'http://' }, clock), Refused);
  });

  test('is listed with everything encoded', () => {
    const url = new Bucket('models', { endpoint: 'http://s3' }, clock).listing("a b/(c)+'", 'to/ken+=');
    equal(url.search, '?list-type=2&prefix=a%20b%2F%28c%29%2B%27&continuation-token=to%2Fken%2B%3D');
  });
});
