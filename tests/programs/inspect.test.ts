// A look at images in a real registry, as the operator does it and as the program in a pod does it: what is found, what
// is refused and why, and that no forbidden address is reached and no password shown.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { exitCode, heardLastWord, inspectArguments, type LastWord, type SourceAccess } from '../../src/api/index.ts';
import { egressRules, systemClock } from '../../src/base/index.ts';
import { lookAt, openRegistry, runInspect } from '../../src/programs/inspect/index.ts';
import { pullSecret, startRegistry, type TestRegistry, user } from '../kit/registry.ts';

let open: TestRegistry;
let closed: TestRegistry;
const folder = mkdtempSync(join(tmpdir(), 'inspect-'));

before(async () => {
  [open, closed] = await Promise.all([startRegistry(), startRegistry({ open: false })]);
});

after(async () => {
  await Promise.all([open?.stop(), closed?.stop()]);
  rmSync(folder, { recursive: true });
});

const allowed = egressRules({ allow: ['127.0.0.1'] });
const around = { clock: systemClock, random: Math.random };

async function look(image: string, rules = allowed) {
  await using registry = openRegistry({ ...around, rules, plainHttp: [open.host, closed.host] });
  return lookAt(registry, image);
}

describe('an image', () => {
  test('is told by its digest, by tag and by digest alike', async () => {
    const digest = await open.push('models/iris:1');
    const looked = await look(`${open.host}/models/iris:1`);
    ok('digest' in looked);
    deepEqual([looked.digest, looked.mountable], [digest, true]);
    ok(looked.bytes > 0 && looked.bytes < 10_000);
    deepEqual(await look(`oci://${open.host}/models/iris@${digest}`), looked);
  });

  test('for several platforms is told by the digest of all', async () => {
    const digest = await open.push('models/many:1', 'index');
    const looked = await look(`${open.host}/models/many:1`);
    ok('digest' in looked);
    deepEqual([looked.digest, looked.mountable], [digest, true]);
  });

  test('of raw files cannot be mounted', async () => {
    const digest = await open.push('models/raw:1', 'artifact');
    const looked = await look(`${open.host}/models/raw:1`);
    ok('digest' in looked);
    deepEqual([looked.digest, looked.mountable, looked.bytes], [digest, false, 'models/raw:1 3'.length]);
  });

  test('that is not there is refused', async () => {
    const looked = await look(`${open.host}/models/nobody:1`);
    ok('refused' in looked);
    equal(looked.refused, 'SourceNotFound');
    equal(((await look('just-a-name')) as { refused: string }).refused, 'SourceNotFound');
  });

  test('that only some may see is refused, without a word about who they are', async () => {
    const looked = await look(`${closed.host}/models/iris:1`);
    ok('refused' in looked);
    equal(looked.refused, 'SourceUnauthorized');
    match(looked.message, /models\/iris/);
  });

  test('behind a certificate that nobody trusts is refused', async () => {
    await using registry = openRegistry({ ...around, rules: allowed, plainHttp: [] });
    const looked = await lookAt(registry, `${open.host}/models/iris:1`);
    equal('refused' in looked && looked.refused, 'SourceTLSError');
  });

  test('at a forbidden address is refused before a connection is made', async () => {
    let reached = 0;
    const canary = createServer((socket) => {
      reached++;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(canary, 'listening');
    const { port } = canary.address() as { port: number };
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '169.254.169.254']) {
      const looked = await look(`${host}:${port}/models/iris:1`, egressRules({}));
      equal('refused' in looked && looked.refused, 'EgressDenied', host);
    }
    canary.close();
    equal(reached, 0);
  });

  test('whose registry does not answer is a fault that may pass', async () => {
    await using registry = openRegistry({ ...around, rules: allowed, plainHttp: ['127.0.0.1:9'] });
    const given = AbortSignal.timeout(2_000);
    const error = await lookAt(registry, '127.0.0.1:9/models/iris:1', given).catch((thrown: Error) => thrown);
    ok(error instanceof Error);
  });
});

/** The program as its pod runs it; loopback must be opened, which no argument does. */
const run = (url: string, access: SourceAccess, files: Record<string, Record<string, string>>): Promise<LastWord> =>
  runInspect({ url, access }, { ...around, files: (name) => files[name] ?? {}, apiServer: [], allow: ['127.0.0.1'] });

const main = join(import.meta.dirname, '../../src/programs/inspect/main.ts');

describe('the program', () => {
  test('sees with a pull secret what is private', async () => {
    const digest = await closed.push('models/private:1');
    const url = `oci://${closed.host}/models/private:1`;
    const access = { pullSecrets: '/pull', plainHttp: [closed.host] };
    const secrets = { '0.json': pullSecret('other.example'), '1.json': pullSecret(closed.host) };
    const word = await run(url, access, { '/pull': secrets });
    ok(word.result === 'done');
    deepEqual([word.digest, word.mountable], [digest, true]);
    const own = await run(url, { credentials: '/own', plainHttp: [closed.host] }, { '/own': user });
    deepEqual(own, word);
  });

  test('says that a password is wrong, and not which', async () => {
    const wrong = { ...user, password: 'a-wrong-canary' };
    const access = { pullSecrets: '/pull', plainHttp: [closed.host] };
    const files = { '/pull': { '0.json': pullSecret(closed.host, wrong as unknown as typeof user) } };
    const word = await run(`oci://${closed.host}/models/private:1`, access, files);
    ok(word.result === 'verdict');
    equal(word.verdict, 'SourceUnauthorized');
    ok(!word.message.includes(wrong.password));
  });

  test('says that a pull secret cannot be read, and nothing of what is in it', async () => {
    const files = { '/pull': { '0.json': 'a-broken-canary' } };
    const word = await run(`oci://${closed.host}/models/private:1`, { pullSecrets: '/pull' }, files);
    ok(word.result === 'verdict');
    match(word.message, /not JSON/);
    ok(!word.message.includes('canary'));
  });

  test('says that an authority is none', async () => {
    const files = { '/own': { 'ca.crt': 'my authority' } };
    const word = await run(`oci://${closed.host}/models/private:1`, { credentials: '/own' }, files);
    ok(word.result === 'verdict' && word.verdict === 'SourceTLSError', JSON.stringify(word));
    match(word.message, /^ca\.crt holds no certificate/);
  });

  test('as a process leaves its last word and its exit code, also where it may not go', async () => {
    mkdirSync(join(folder, 'pull'));
    writeFileSync(join(folder, 'pull', '0.json'), pullSecret(closed.host));
    const access = { pullSecrets: join(folder, 'pull'), plainHttp: [closed.host] };
    const args = inspectArguments({ url: `oci://${closed.host}/models/private:1`, access });
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const said = (await child.stdout.toArray()).join('');
    const [code] = (await once(child, 'close')) as [number];
    const word = heardLastWord(said);
    ok(word?.result === 'verdict');
    deepEqual([code, word.verdict], [exitCode.verdict, 'EgressDenied']);
  });

  /** Loopback is never reached by the program as it is. */
  const own = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    test(`ends on ${signal} with a fault that says so`, { skip: own === undefined, timeout: 30_000 }, async () => {
      const silent = createServer().listen(0, own);
      await once(silent, 'listening');
      const host = `${own}:${(silent.address() as { port: number }).port}`;
      const args = inspectArguments({ url: `oci://${host}/models/iris:1`, access: { plainHttp: [host] } });
      const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
      silent.once('connection', () => child.kill(signal));
      const said = (await child.stdout.toArray()).join('');
      const [code] = (await once(child, 'close')) as [number];
      silent.close();
      deepEqual(heardLastWord(said), { result: 'fault', message: 'the look at the image was stopped' });
      equal(code, exitCode.fault);
    });
});
