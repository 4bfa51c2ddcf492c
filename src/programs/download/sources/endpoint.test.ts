import { equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endpointIn, regionIn } from './endpoint.ts';

const refused = (key: string) => ({
  verdict: 'SourceUnauthorized',
  message: new RegExp(`^the key ${key} of the Secret`),
});

describe('an endpoint', () => {
  for (const [text, expected] of [
    ['hub.example.com', 'https://hub.example.com'],
    ['minio:9000/', 'https://minio:9000'],
    ['http://[::1]:9000/s3//', 'http://[::1]:9000/s3'],
    ['https://{bucket}.s3.example', 'https://{bucket}.s3.example'],
  ] as const)
    test(`${text} is a place`, () => equal(endpointIn(text), expected));

  for (const text of [
    'http://',
    'ftp://models',
    'a b',
    'https://x?y',
    'https://x#y',
    'https://me:canary@x',
    'x:99999',
    '/',
  ])
    test(`${text} is none`, () => throws(() => endpointIn(text), refused('endpoint')));
});

describe('a region', () => {
  test('is the usual one where none is named', () => equal(regionIn({}), 'us-east-1'));
  test('may be named freely at an endpoint', () =>
    equal(regionIn({ region: 'RegionOne', endpoint: 'x' }), 'RegionOne'));

  for (const region of ['us east 1', 'US-EAST-1', 'x.evil.example/', ''])
    test(`${JSON.stringify(region)} is none`, () => throws(() => regionIn({ region }), refused('region')));
});
