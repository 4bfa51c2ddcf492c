// What a way to the outside needs is asked for at the start, by the name of the setting that is missing; what has no effect
// with it, or would be refused with every model, is named as well.

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

  test('an annotation that is no text, or that nobody could set', () => {
    match(wrong('--exposure-annotations={a: 1}'), /--exposure-annotations: a: must be a text/);
    for (const bad of ['no blanks here', 'a/b/c', '/a', 'a/', '-a', 'no domain!/a', 'a'.repeat(64), ''])
      match(
        wrong(`--exposure-annotations=${JSON.stringify({ [bad]: 'x' })}`),
        /--exposure-annotations: ".*" is no key of an annotation: one is like example\.com\/scheme/,
      );
    const good = { 'Example.com/Scheme_1.a': 'x', a: 'y' };
    deepEqual(found(`--exposure-annotations=${JSON.stringify(good)}`).annotations, good);
  });

  test('a class that there cannot be', () => {
    for (const bad of ['My Class!', 'Edge', '-edge', 'a'.repeat(254)])
      match(
        wrong('--exposure=Ingress', domain, `--ingress-class=${bad}`),
        /--ingress-class: must be the name of an IngressClass, as `kubectl get ingressclasses` shows it/,
      );
    equal(
      (found('--exposure=Ingress', domain, '--ingress-class=edge.v2') as { className?: string }).className,
      'edge.v2',
    );
  });

  test('what has no effect with the way that is set', () => {
    const rows: [way: string[], idle: string, words: RegExp][] = [
      [
        [],
        '--gateway=edge/shared',
        /^gateway has no effect with exposure NodePort: remove it, or set exposure to Gateway$/,
      ],
      [[], '--exposure-tls=on', /^exposureTls has no effect with exposure NodePort: .* to Ingress or Gateway$/],
      [[], domain, /^exposureDomain has no effect with exposure NodePort/],
      [['--exposure=LoadBalancer'], '--ingress-class=edge', /^ingressClass has no effect with exposure LoadBalancer/],
      [['--exposure=Ingress', domain], '--gateway=edge/shared', /^gateway has no effect with exposure Ingress/],
      [
        ['--exposure=Gateway', domain, '--gateway=a/b'],
        '--ingress-class=edge',
        /^ingressClass has no effect .*Gateway/,
      ],
    ];
    for (const [way, idle, words] of rows) {
      found(...way);
      match(wrong(...way, idle), words);
    }
  });

  test('a way that there is not', () =>
    match(wrong('--exposure=Tunnel'), /must be NodePort or LoadBalancer or Ingress or Gateway/));
});
