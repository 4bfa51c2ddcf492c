import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accessFrom, leaseFrom, type Surroundings } from './place.ts';
import { type Settings, settings } from './settings.ts';

const initial = Object.fromEntries(Object.entries(settings).map(([key, { initial: value }]) => [key, value]));
const given = (own: Partial<Settings>) => ({ ...initial, ...own }) as Settings;
const laptop: Surroundings = {
  env: {},
  home: '/home/me',
  read: () => {
    throw new Error('no such file');
  },
};
const pod: Surroundings = {
  ...laptop,
  env: { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' },
  read: () => 'machinery\n',
};

describe('the cluster', () => {
  /** What the access complains about names the file that it looked for. */
  const looksFor = (own: Partial<Settings>, around: Surroundings): string => {
    const found = accessFrom(given(own), around);
    if ('wrong' in found) return found.wrong;
    try {
      return found.access().server;
    } catch (error) {
      return (error as Error).message;
    }
  };

  test('a pod works on its own cluster', () => equal(looksFor({}, pod), 'https://10.0.0.1:6443'));

  test('a person must name one, even where kubectl has a current context', () => {
    match(looksFor({}, laptop), /no cluster is named: give --context=NAME/);
    match(looksFor({}, { ...laptop, env: { KUBECONFIG: '/some' } }), /no cluster is named/);
  });

  test('a context is looked for where kubectl looks', () => {
    match(looksFor({ context: 'a' }, laptop), /\/home\/me\/\.kube\/config/);
    match(looksFor({ context: 'a' }, { ...laptop, env: { KUBECONFIG: '/some/other' } }), /\/some\/other/);
  });

  test('a kubeconfig that is named goes before everything, also in a pod', () =>
    match(looksFor({ kubeconfig: '/named', context: 'a' }, pod), /\/named/));

  test('a broken kubeconfig is not the end: it is read again', () => {
    const found = accessFrom(given({ kubeconfig: '/named' }), laptop);
    ok('access' in found);
  });

  test('a context that cannot be found is told to whoever named it', () => {
    const found = accessFrom(given({ kubeconfig: '/named', context: 'a' }), laptop);
    ok('wrong' in found);
  });
});

describe('the lease', () => {
  test('is in the first of the named namespaces, else where the pod is, else in the usual place', () =>
    deepEqual(
      [
        leaseFrom(given({ leaseNamespace: 'own', namespaces: ['a'] }), pod),
        leaseFrom(given({ namespaces: ['a', 'b'] }), pod),
        leaseFrom(given({}), pod),
        leaseFrom(given({}), laptop),
      ].map((lease) => lease?.namespace),
      ['own', 'a', 'machinery', 'baton-system'],
    ));

  test('can be done without', () => equal(leaseFrom(given({ leaderElection: false }), pod), undefined));
});
