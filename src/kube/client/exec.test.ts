import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeAuthority, MovableClock } from '../../../tests/kit/scripted-peer.ts';
import { type Credential, loadKubeconfig } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'exec-'));
after(() => rmSync(folder, { recursive: true }));
const v1 = 'client.authentication.k8s.io/v1';

/** A kubeconfig in the folder whose user is what this shell script says. */
function pluginOf(script: string, exec: Record<string, unknown> = {}, cluster: Record<string, unknown> = {}) {
  const program = join(folder, 'plugin');
  writeFileSync(program, `#!/bin/sh\necho run >> "${folder}/runs"\n${script}\n`);
  writeFileSync(join(folder, 'runs'), '');
  chmodSync(program, 0o755);
  const config = {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [
      {
        name: 'x',
        cluster: {
          server: 'https://k8s.example',
          ...cluster,
          extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'me' } }],
        },
      },
    ],
    users: [{ name: 'x', user: { exec: { command: './plugin', apiVersion: v1, interactiveMode: 'Never', ...exec } } }],
  };
  const path = join(folder, 'config');
  writeFileSync(path, JSON.stringify(config));
  return {
    access: loadKubeconfig(path, { env: { PATH: '/usr/bin:/bin', HOME: '/home/nobody' } }),
    at: `kubeconfig ${path}`,
  };
}

const runs = (): number => readFileSync(join(folder, 'runs'), 'utf8').split('\n').length - 1;
const says = (status: unknown, apiVersion = v1): string =>
  `cat <<'END'\n${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\nEND`;
const header = ({ headers }: Credential): string | undefined => headers[1];

test('the program runs once for many requests, with its arguments, its environment and what it may know', async () => {
  const script = `printf '%s\\n' "$1" "$2" "$REGION" "$HOME" "$KUBERNETES_EXEC_INFO" > "${folder}/seen"\n${says({ token: 't1' })}`;
  const { access } = pluginOf(script, {
    args: ['login', 'a b'],
    env: [{ name: 'REGION', value: 'moon' }],
    provideClusterInfo: true,
  });
  const clock = new MovableClock();
  const all = await Promise.all(Array.from({ length: 5 }, async () => access.credential(clock)));
  assert.ok(all.every((one) => header(one) === 'Bearer t1'));
  await access.credential(clock);
  assert.equal(runs(), 1);
  const [first, second, region, home, info] = readFileSync(join(folder, 'seen'), 'utf8').split('\n');
  assert.deepEqual([first, second, region, home], ['login', 'a b', 'moon', '/home/nobody']);
  assert.deepEqual(JSON.parse(info ?? ''), {
    apiVersion: v1,
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server: 'https://k8s.example', config: { audience: 'me' } } },
  });
});

test('an expired credential is fetched anew, and one that the server refused', async () => {
  const clock = new MovableClock();
  const expirationTimestamp = new Date(clock.now() + 600_000).toISOString();
  const { access } = pluginOf(
    `n=$(grep -c run "${folder}/runs")\necho '{"apiVersion":"${v1}","kind":"ExecCredential","status":{"token":"t'$n'","expirationTimestamp":"${expirationTimestamp}"}}'`,
  );
  const first = await access.credential(clock);
  assert.equal(header(first), 'Bearer t1');
  clock.ahead = 599_000;
  assert.equal(await access.credential(clock), first);
  clock.ahead = 601_000;
  const second = await access.credential(clock);
  assert.equal(header(second), 'Bearer t2');
  clock.ahead = 0;
  const third = await access.credential(clock, second);
  assert.equal(header(third), 'Bearer t3');
  assert.equal(await access.credential(clock, first), third, 'what was refused is already replaced');
});

test('a certificate instead of a token, in v1beta1', async () => {
  const { certificate: clientCertificateData, key: clientKeyData } = makeAuthority(Date.now()).issue({ name: 'bob' });
  const beta = 'client.authentication.k8s.io/v1beta1';
  const { access } = pluginOf(says({ clientCertificateData, clientKeyData }, beta), {
    apiVersion: beta,
  });
  const { tls, headers } = await access.credential(new MovableClock());
  assert.deepEqual([tls, headers], [{ cert: clientCertificateData, key: clientKeyData }, []]);
});

const failures: [string, string, Record<string, unknown>, string][] = [
  [
    'a program that is not there is named with its hint',
    '',
    { command: 'no-such-login', installHint: 'Get it from your admin.\n' },
    '"no-such-login" is not installed. Get it from your admin.',
  ],
  [
    'a program that fails speaks its last line',
    'echo "first" >&2; echo "session expired, log in again" >&2; echo sesame; exit 3',
    {},
    '"./plugin" failed with exit code 3: session expired, log in again',
  ],
  ['a program that prints no JSON', 'echo sesame', {}, '"./plugin" did not print JSON'],
  ['a program that prints something else', `echo '{"kind":"Token"}'`, {}, '"./plugin" did not print an ExecCredential'],
  [
    'a program that answers in another version',
    says({ token: 'sesame' }, 'client.authentication.k8s.io/v1beta1'),
    {},
    `"./plugin" answered in client.authentication.k8s.io/v1beta1, the kubeconfig asks for ${v1}`,
  ],
  ['a program that gives nothing', says({}), {}, 'the program gave neither a token nor a certificate with its key'],
];
for (const [name, script, exec, message] of failures)
  test(name, async () => {
    const { access, at } = pluginOf(script, exec);
    await assert.rejects(async () => access.credential(new MovableClock()), {
      message: `${at}: users[0].user.exec: ${message}`,
    });
  });

test('a failed run is tried again by the next request', async () => {
  const { access } = pluginOf(`test $(grep -c run "${folder}/runs") -gt 1 || exit 1\n${says({ token: 'later' })}`);
  await assert.rejects(async () => access.credential(new MovableClock()));
  assert.equal(header(await access.credential(new MovableClock())), 'Bearer later');
});

test('pitfall 22: the CA beside an exec plugin is read again, without another run of the program', async () => {
  const authorities = [makeAuthority(Date.now()), makeAuthority(Date.now())].map(({ certificate }) => certificate);
  const path = join(folder, 'ca.crt');
  writeFileSync(path, authorities[0] ?? '');
  const { access } = pluginOf(says({ token: 't' }), {}, { 'certificate-authority': 'ca.crt' });
  const clock = new MovableClock();
  const first = await access.credential(clock);
  writeFileSync(path, authorities[1] ?? '');
  assert.equal(await access.credential(clock), first);
  clock.ahead = 61_000;
  const second = await access.credential(clock);
  assert.deepEqual([first.tls.ca, second.tls.ca], authorities);
  assert.deepEqual([header(second), runs()], ['Bearer t', 1]);
});
