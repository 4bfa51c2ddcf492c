// What the settings make of the controllers, as far as others depend on it: their rights.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf } from '../kube/index.ts';
import { controllersFrom } from './controllers.ts';
import { apiServerFrom } from './place.ts';
import { readSettings, type Settings } from './index.ts';

const notAsked = () => Promise.reject(new Error('not asked here'));
const clients = { registry: { lookAt: notAsked, digestOf: notAsked } };

function rightsWith(...args: string[]): string[] {
  const asked = readSettings({ args, env: {}, read: () => '' });
  const settings = 'run' in asked ? asked.run : ({} as Settings);
  const [models] = controllersFrom(settings, clients);
  const definitions = models ? [models.definition] : [];
  return rulesOf(definitions).flatMap(({ resources, verbs }) => (resources.includes('nodes') ? verbs : []));
}

test('for models nodes are listed only where it must be found out whether they mount images', () => {
  deepEqual(rightsWith(), ['list']);
  deepEqual(rightsWith('--image-volumes=on'), []);
  deepEqual(rightsWith('--image-volumes=off'), []);
  deepEqual(rightsWith('--namespaces=a,b'), [], 'with Roles only nodes cannot be seen');
});

test('the API server is known by its address, with a port', () => {
  const at = (server: string) => apiServerFrom(() => ({ server, credential: () => ({ headers: [], tls: {} }) }));
  deepEqual(at('https://10.0.0.1:6443'), ['10.0.0.1:6443']);
  deepEqual(at('https://10.0.0.1/path'), ['10.0.0.1:443']);
  deepEqual(at('https://[fd00::1]:6443'), ['[fd00::1]:6443']);
  deepEqual(at('https://api.example:6443'), []);
  const unread = apiServerFrom(() => {
    throw new Error('no file yet');
  });
  equal(unread.length, 0);
});
