import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { makeAuthority } from '../../../tests/kit/scripted-peer.ts';
import { systemClock } from '../../base/index.ts';
import { type ClusterAccess, inCluster, loadKubeconfig } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
after(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const ca = makeAuthority(Date.now());
const { certificate, key } = ca.issue({ name: 'bob' });
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A kubeconfig with one of each, and changes to them. */
const yaml = ({ user = '{ token: sesame }', cluster = '', context = '', extra = 'current-context: prod' } = {}) => `
apiVersion: v1
kind: Config
${extra}
clusters:
- name: main
  cluster: { server: "https://k8s.example:6443"${cluster} }
contexts:
- name: prod
  context: { cluster: main, user: bob${context} }
users:
- name: bob
  user: ${user}
`;
const credential = (access: ClusterAccess) => access.credential(systemClock);

describe('a kubeconfig that works', () => {
  test('a token, as text', async () => {
    const access = loadKubeconfig(yaml());
    assert.equal(access.server, 'https://k8s.example:6443');
    assert.deepEqual((await credential(access)).headers, ['authorization', 'Bearer sesame']);
  });

  test('the namespace of the context is known', () => {
    assert.equal(loadKubeconfig(yaml({ context: ', namespace: shop' })).namespace, 'shop');
  });

  test('a name and a password', async () => {
    const access = loadKubeconfig(yaml({ user: '{ username: bob, password: "s:ü" }' }));
    assert.deepEqual((await credential(access)).headers, ['authorization', `Basic ${base64('bob:s:ü')}`]);
  });

  test('certificates inline; the data goes before a file', async () => {
    const data = base64(ca.certificate);
    const cluster = `, certificate-authority: /not/there, certificate-authority-data: ${data}, tls-server-name: api`;
    const user = `{ client-certificate-data: ${base64(certificate)}, client-key-data: ${base64(key)} }`;
    const { tls, headers } = await credential(loadKubeconfig(yaml({ cluster, user })));
    assert.deepEqual(tls, { ca: ca.certificate, cert: certificate, key, serverName: 'api' });
    assert.deepEqual(headers, []);
  });

  test('files are found from the folder of the kubeconfig', async () => {
    mkdirSync(join(folder, 'pki'));
    file('pki/ca.crt', ca.certificate);
    file('pki/token', 'from-file\n');
    const path = file(
      'relative',
      yaml({ cluster: ', certificate-authority: pki/ca.crt', user: '{ tokenFile: pki/token }' }),
    );
    const { tls, headers } = await credential(loadKubeconfig(path));
    assert.equal(tls.ca, ca.certificate);
    assert.deepEqual(headers, ['authorization', 'Bearer from-file']);
  });

  test('insecure-skip-tls-verify and a context without a user', async () => {
    const text = yaml({ cluster: ', insecure-skip-tls-verify: true' }).replace('user: bob', 'user: ""');
    assert.deepEqual(await credential(loadKubeconfig(text)), { headers: [], tls: { insecure: true } });
  });

  test('another context than the current one', () => {
    const text = yaml().replace(
      'contexts:\n',
      'contexts:\n- { name: other, context: { cluster: main, namespace: b } }\n',
    );
    assert.equal(loadKubeconfig(text, { context: 'other' }).namespace, 'b');
  });

  test('pitfall 24: impersonated groups stay separate headers', async () => {
    const user = '{ token: t, as: eve, as-uid: "7", as-groups: [a, "b,c"], as-user-extra: { "x/y": ["1", "2"] } }';
    const { headers } = await credential(loadKubeconfig(yaml({ user })));
    const pairs = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
    assert.deepEqual(pairs.slice(1), [
      'impersonate-user: eve',
      'impersonate-uid: 7',
      'impersonate-group: a',
      'impersonate-group: b,c',
      'impersonate-extra-x%2Fy: 1',
      'impersonate-extra-x%2Fy: 2',
    ]);
  });

  test('several files are merged: the first to name something wins, a missing one is passed over', async () => {
    const first = file('first', yaml({ extra: '' }).replace('- name: bob', '- name: ann').replace('sesame', 'ann'));
    const second = file('second', yaml({ extra: 'current-context: prod' }).replace('k8s.example', 'other.example'));
    const access = loadKubeconfig([join(folder, 'missing'), first, second].join(':'));
    assert.equal(access.server, 'https://k8s.example:6443');
    assert.deepEqual((await credential(access)).headers, ['authorization', 'Bearer sesame']);
  });
});

describe('a broken kubeconfig says file, field and the way out', () => {
  const at = join(folder, 'broken');
  const cases: [string, string, string][] = [
    ['not YAML', 'token: "sesame', 'not YAML (line 1, column 15)'],
    ['empty', '\n', 'empty or not a kubeconfig; kubectl config view shows what one looks like'],
    ['no current context', yaml({ extra: '' }), 'current-context is not set; choose one of: prod'],
    ['no contexts', 'clusters: []\n', 'current-context is not set; the file has no contexts'],
    [
      'unknown context',
      yaml({ extra: 'current-context: dev' }),
      'current-context "dev" is not in contexts; choose one of: prod',
    ],
    [
      'unknown user',
      yaml().replace('- name: bob', '- name: ann'),
      'contexts[0] "prod" names user "bob", which is not in users (ann)',
    ],
    [
      'unknown cluster',
      yaml().replace('- name: main', '- name: x'),
      'contexts[0] "prod" names cluster "main", which is not in clusters (x)',
    ],
    ['no server', yaml().replace('server:', 'host:'), 'clusters[0].cluster.server is missing'],
    [
      'a server that is no URL',
      yaml().replace('https://k8s.example:6443', 'k8s.example'),
      'clusters[0].cluster.server "k8s.example" is not an http or https URL',
    ],
    [
      'a proxy',
      yaml({ cluster: ', proxy-url: "http://p"' }),
      'clusters[0].cluster.proxy-url is not supported; remove it and reach the server directly',
    ],
    [
      'CA and insecure',
      yaml({ cluster: ', insecure-skip-tls-verify: true, certificate-authority: x' }),
      'clusters[0].cluster has both a certificate authority and insecure-skip-tls-verify; remove one',
    ],
    [
      'bad data',
      yaml({ cluster: ', certificate-authority-data: "%%%"' }),
      'clusters[0].cluster.certificate-authority-data is not base64 of PEM text',
    ],
    [
      'a missing file',
      yaml({ user: '{ client-certificate: no.crt }' }),
      `users[0].user.client-certificate: cannot read ${join(folder, 'no.crt')} (ENOENT)`,
    ],
    [
      'a certificate without its key',
      yaml({ user: `{ client-certificate-data: ${base64(certificate)} }` }),
      'users[0].user has a client-certificate but no client-key',
    ],
    [
      'a CA that is none',
      yaml({ cluster: `, certificate-authority-data: ${base64('-----BEGIN CERTIFICATE-----\nAAAA\n')}` }),
      'clusters[0].cluster.certificate-authority holds no certificate that can be read',
    ],
    [
      'a key of another certificate',
      yaml({
        user: `{ client-certificate-data: ${base64(certificate)}, client-key-data: ${base64(ca.issue({ name: 'eve' }).key)} }`,
      }),
      'users[0].user: the client certificate and its key cannot be used (key values mismatch)',
    ],
    [
      'an old auth provider',
      yaml({ user: '{ auth-provider: { name: gcp } }' }),
      'users[0].user.auth-provider is no longer part of Kubernetes; use an exec plugin instead',
    ],
    [
      'a token with a line break',
      yaml({ user: '{ token: "sesame\\nopen" }' }),
      'users[0].user.token is empty or holds characters that no token has',
    ],
    [
      'a token that YAML takes for a number',
      yaml({ user: '{ token: 12345 }' }),
      'users[0].user.token is not a text; put it in quotes',
    ],
    ['an entry without a name', yaml().replace('- name: bob', '- called: bob'), 'users[0].name is missing'],
    ['a list that is none', `${yaml()}\n`.replace(/users:[^]*/, 'users: 7\n'), 'users is not a list'],
    [
      'an exec plugin of an old version',
      yaml({ user: '{ exec: { command: x, apiVersion: client.authentication.k8s.io/v1alpha1 } }' }),
      'users[0].user.exec.apiVersion is "client.authentication.k8s.io/v1alpha1"; client.authentication.k8s.io/v1 and client.authentication.k8s.io/v1beta1 are supported',
    ],
    [
      'an exec plugin that wants a terminal',
      yaml({ user: '{ exec: { command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always } }' }),
      'users[0].user.exec.interactiveMode is Always, but there is no terminal here; use a credential that needs none',
    ],
  ];
  for (const [name, text, message] of cases)
    test(name, () => {
      writeFileSync(at, text);
      assert.throws(() => loadKubeconfig(at), { message: `kubeconfig ${at}: ${message}` });
      assert.throws(
        () => loadKubeconfig(at),
        ({ message: said }: Error) => !said.includes('sesame'),
      );
    });

  test('a missing file', () => {
    assert.throws(() => loadKubeconfig('/not/there'), { message: 'kubeconfig: cannot read /not/there (ENOENT)' });
    assert.throws(() => loadKubeconfig('/not/there:/nor/here'), {
      message: 'kubeconfig: none of /not/there, /nor/here exists',
    });
  });

  test('a context asked for that does not exist', () => {
    assert.throws(() => loadKubeconfig(yaml(), { context: 'nope' }), {
      message: 'kubeconfig: context "nope" is not in contexts; choose one of: prod',
    });
  });
});

describe('in a cluster', () => {
  test('server, token and CA come from where the pod was told', async () => {
    file('token', 'pod-token\n');
    file('ca.crt', ca.certificate);
    const access = inCluster({ host: '10.96.0.1', port: '443', folder });
    assert.equal(access.server, 'https://10.96.0.1:443');
    assert.deepEqual(await credential(access), {
      headers: ['authorization', 'Bearer pod-token'],
      secret: 'pod-token',
      tls: { ca: ca.certificate },
    });
    assert.equal(inCluster({ host: 'fd00::1', port: 443 }).server, 'https://[fd00::1]:443');
  });

  test('a missing token is named', () => {
    const access = inCluster({ host: 'h', port: 1, folder: '/not/there' });
    assert.throws(() => access.credential(systemClock), {
      message: 'in-cluster credentials: cannot read /not/there/token (ENOENT)',
    });
  });
});
