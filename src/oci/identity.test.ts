// Who we are at a registry, from the Secrets of a pod.

import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { identityOf } from './identity.ts';

const config = (host: string, username: string) =>
  JSON.stringify({ auths: { [host]: { auth: Buffer.from(`${username}:secret`).toString('base64') } } });
const at = (host: string) => ({ host, repository: 'models/iris' });

test('nobody is known without Secrets', () => {
  const { credentials, ca } = identityOf({}, []);
  deepEqual([credentials(at('a.example')), ca], [undefined, undefined]);
});

test('of several pull secrets the first that knows the registry speaks', () => {
  const { credentials } = identityOf({}, [
    config('a.example', 'ann'),
    config('b.example', 'bob'),
    config('a.example', 'eve'),
  ]);
  deepEqual(credentials(at('a.example')), { username: 'ann', password: 'secret' });
  deepEqual(credentials(at('b.example')), { username: 'bob', password: 'secret' });
  equal(credentials(at('c.example')), undefined);
});

test('a Secret of our own goes before them, with its line breaks taken off, and brings its authority', () => {
  const keys = { username: 'me\n', password: 'mine\n', 'ca.crt': 'PEM' };
  const { credentials, ca } = identityOf(keys, [config('a.example', 'ann')]);
  deepEqual([credentials(at('a.example')), ca], [{ username: 'me', password: 'mine' }, 'PEM']);
  deepEqual(identityOf({ token: 't\n' }, []).credentials(at('a.example')), { registryToken: 't' });
});

test('keys that are for other sources say nothing here', () => {
  const keys = { accessKeyID: 'a', secretAccessKey: 'b', password: 'alone' };
  deepEqual(identityOf(keys, [config('a.example', 'ann')]).credentials(at('a.example')), {
    username: 'ann',
    password: 'secret',
  });
});

test('a pull secret that cannot be read is said, without its text', () => {
  throws(() => identityOf({}, ['top secret']), /not JSON/);
});
