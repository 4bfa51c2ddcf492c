import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Index, mediaType, type Platform } from './manifest.ts';
import { choose, images, platformOf } from './platform.ts';

const entry = (name: string, platform?: Platform, annotations?: Record<string, string>) => ({
  mediaType: mediaType.manifest,
  digest: `sha256:${name.padEnd(64, '0')}`,
  size: 1,
  ...(platform && { platform }),
  ...(annotations && { annotations }),
});
const index = (...manifests: Index['manifests']): Index => ({ schemaVersion: 2, manifests });
const linux = (architecture: string, variant?: string): Platform => ({
  os: 'linux',
  architecture,
  ...(variant !== undefined && { variant }),
});
const chosen = (from: Index, wanted: Platform) => choose(from, wanted).digest.slice(7, 9);

describe('the image for a platform', () => {
  const both = index(entry('a1', linux('amd64')), entry('b1', linux('arm64', 'v8')), entry('c1', linux('arm', 'v7')));

  test('is the one of its system and architecture', () => {
    equal(chosen(both, linux('amd64')), 'a1');
    equal(chosen(both, linux('arm64')), 'b1');
    equal(chosen(both, linux('arm', 'v7')), 'c1');
  });

  test('is the exact variant where there are several', () => {
    const arms = index(entry('a6', linux('arm', 'v6')), entry('a7', linux('arm', 'v7')), entry('a0', linux('arm')));
    equal(chosen(arms, linux('arm', 'v7')), 'a7');
    equal(chosen(arms, linux('arm')), 'a0');
  });

  test('that is missing is named beside those that are there', () => {
    throws(
      () => choose(both, linux('s390x')),
      /no image for linux\/s390x; there is linux\/amd64, linux\/arm64\/v8, linux\/arm\/v7/,
    );
    throws(() => choose(both, linux('arm', 'v6')), /no image for linux\/arm\/v6/);
  });

  test('may be the only one, which then needs to name no platform', () => {
    equal(chosen(index(entry('aa')), linux('amd64')), 'aa');
    throws(() => choose(index(entry('aa'), entry('bb')), linux('amd64')), /there is unnamed, unnamed/);
  });

  test('is never an attestation', () => {
    const mark = { 'vnd.docker.reference.type': 'attestation-manifest' };
    const attested = index(entry('aa', linux('amd64')), entry('bb', { os: 'unknown', architecture: 'unknown' }, mark));
    equal(images(attested).length, 1);
    throws(() => choose(attested, { os: 'unknown', architecture: 'unknown' }), /no image/);
  });

  test('is asked for in the words of images', () => {
    deepEqual(platformOf({ platform: 'linux', arch: 'x64' }), { os: 'linux', architecture: 'amd64' });
    deepEqual(platformOf({ platform: 'linux', arch: 'arm64' }), { os: 'linux', architecture: 'arm64' });
  });
});
