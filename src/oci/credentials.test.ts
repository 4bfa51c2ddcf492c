import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dockerCredentials } from './credentials.ts';

const auth = (text: string) => ({ auth: Buffer.from(text).toString('base64') });
const config = (auths: Record<string, unknown>) => dockerCredentials(JSON.stringify({ auths }));
const at = (host: string, repository = 'a/b') => ({ host, repository });

describe('the credentials of a Docker configuration', () => {
  test('are found by host, whatever the way it is written', () => {
    for (const key of [
      'registry.example',
      'https://registry.example',
      'https://registry.example/v2/',
      'registry.example/',
    ])
      deepEqual(config({ [key]: auth('ann:pa:ss') })(at('registry.example')), { username: 'ann', password: 'pa:ss' });
    equal(config({ 'registry.example': auth('ann:x') })(at('registry.example:5000')), undefined);
    equal(config({ 'registry.example': auth('ann:x') })(at('evil-registry.example')), undefined);
  });

  test('are read from the older form, too, which has hosts at its top', () => {
    const old = dockerCredentials(JSON.stringify({ 'https://registry.example': { ...auth('ann:x'), email: 'a@b' } }));
    deepEqual(old(at('registry.example')), { username: 'ann', password: 'x' });
  });

  test('of the hub are found under its own key', () => {
    const hub = config({ 'https://index.docker.io/v1/': auth('ann:x') });
    deepEqual(hub(at('docker.io')), { username: 'ann', password: 'x' });
    equal(hub(at('registry.example')), undefined);
  });

  test('with a path are for that path, the longest first', () => {
    const some = config({
      'r.example': auth('all:1'),
      'r.example/team': auth('team:1'),
      'r.example/team/x': auth('x:1'),
    });
    const who = (repository: string) => some(at('r.example', repository));
    deepEqual(who('team/x/y'), { username: 'x', password: '1' });
    deepEqual(who('team/y'), { username: 'team', password: '1' });
    deepEqual(who('teams'), { username: 'all', password: '1' });
  });

  test('may have stars for one part of a host', () => {
    const some = config({ '*.r.example': auth('star:1') });
    deepEqual(some(at('eu.r.example')), { username: 'star', password: '1' });
    equal(some(at('r.example')), undefined);
    equal(some(at('a.b.r.example')), undefined);
  });

  test('may be tokens, or a name and a password', () => {
    deepEqual(config({ r: { identitytoken: 'i' } })(at('r')), { identityToken: 'i' });
    deepEqual(config({ r: { registrytoken: 't' } })(at('r')), { registryToken: 't' });
    deepEqual(config({ r: { username: 'u', password: '' } })(at('r')), { username: 'u', password: '' });
  });

  test('that cannot be used are none, and the old form is read', () => {
    for (const value of [null, 'x', {}, auth('no colon'), { auth: 7 }]) equal(config({ r: value })(at('r')), undefined);
    deepEqual(dockerCredentials(JSON.stringify({ r: auth('u:p') }))(at('r')), { username: 'u', password: 'p' });
    equal(dockerCredentials('{"credsStore":"desktop"}')(at('credsStore')), undefined);
  });

  test('that are no JSON are refused without a word of them', () => {
    throws(() => dockerCredentials('sesame'), { message: /^the registry credentials are not JSON: [^s]*s[^s]*/ });
    throws(
      () => dockerCredentials('sesame'),
      (error: Error) => !error.message.includes('sesame') && error.cause === undefined,
    );
    throws(() => dockerCredentials('[1]'), /not an object/);
  });
});
