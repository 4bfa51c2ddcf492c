// What a way to the outside needs is asked for at the start, by the name of the setting that is missing.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exposureFrom } from './exposure.ts';
import { readSettings } from './read.ts';

const asked = (...args: string[]) => readSettings({ args, env: {}, read: () => '' });

function found(...args: string[]) {
  const result = asked(...args);
  ok('run' in result, JSON.stringify(result));
  const exposure = exposureFrom(result.run);
  ok('value' in exposure);
  return exposure.value;
}

function wrong(...args: string[]): string {
  const result = asked(...args);
  ok('wrong' in result, JSON.stringify(result));
  return result.wrong.join('\n');
}

const domain = '--exposure-domain=models.example.com';

describe('a way to the outside', () => {
  test('is a port of every node if nobody says anything', () =>
    deepEqual(found(), { by: 'NodePort', annotations: {} }));

  test('has annotations in every way', () =>
    deepEqual(found('--exposure=LoadBalancer', '--exposure-annotations={example.com/scheme: internal}'), {
      by: 'LoadBalancer',
      annotations: { 'example.com/scheme': 'internal' },
    }));

  test('by an Ingress has a domain, and may have a class and a certificate', () => {
    const hosted = { by: 'Ingress', annotations: {}, domain: 'models.example.com' };
    deepEqual(found('--exposure=Ingress', domain), { ...hosted, tls: false });
    deepEqual(found('--exposure=Ingress', domain, '--exposure-tls=on', '--ingress-class=nginx'), {
      ...hosted,
      tls: true,
      className: 'nginx',
    });
  });

  test('by a Gateway names it, and perhaps one of its listeners', () => {
    const by = (gateway: string) => found('--exposure=Gateway', domain, `--gateway=${gateway}`);
    deepEqual(by('edge/shared'), {
      by: 'Gateway',
      annotations: {},
      domain: 'models.example.com',
      tls: false,
      gateway: { namespace: 'edge', name: 'shared' },
    });
    const { gateway } = by('edge/shared/https') as { gateway?: { sectionName?: string } };
    equal(gateway?.sectionName, 'https');
  });
});

describe('what is missing or wrong is named', () => {
  test('a domain', () => {
    for (const by of ['Ingress', 'Gateway'])
      match(wrong(`--exposure=${by}`, '--gateway=a/b'), new RegExp(`exposure ${by} needs exposureDomain`));
    for (const bad of ['Models.example.com', '*.example.com', '.example.com', `${'a'.repeat(63)}.${'b'.repeat(63)}`])
      match(wrong(`--exposure-domain=${bad}`), /--exposure-domain: must be a domain/);
  });

  test('a Gateway', () => {
    match(wrong('--exposure=Gateway', domain), /exposure Gateway needs gateway: NAMESPACE\/NAME/);
    for (const bad of ['shared', 'edge/', '/shared', 'edge/shared/https/more', 'Edge/shared'])
      match(wrong(`--gateway=${bad}`), /--gateway: must be NAMESPACE\/NAME/);
  });

  test('an annotation that is no text', () =>
    match(wrong('--exposure-annotations={a: 1}'), /--exposure-annotations: a: must be a text/));

  test('a way that there is not', () =>
    match(wrong('--exposure=Tunnel'), /must be NodePort or LoadBalancer or Ingress or Gateway/));
});
