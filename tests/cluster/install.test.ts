// `make install`, `deploy`, `undeploy`, `uninstall` and `samples` as people call them, on a cluster that is named by its
// context, and the refusals where it is not. The operator's pod is played; that it may run at all is decided by the
// real API server, whose namespace enforces Pod Security `restricted`.

import { equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { productKinds, secretUse } from '../../tools/index.ts';
import { must } from '../kit/rig.ts';

const root = join(import.meta.dirname, '../..');
const files = readdirSync(join(root, 'examples'));
const samples = files.filter((file) => file.startsWith('mlmodel')).length;
let plane: ControlPlane;
let context: string;
before(async () => {
  plane = await startControlPlane({ nodes: 1 });
  context = (await must(plane, ['config', 'current-context'])).trim();
});
after(() => plane.stop());

interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

/** make, in a process whose kubeconfig is that of the test's own control plane. */
function make(args: string[], env: Record<string, string> = {}): Promise<Result> {
  const own = { ...process.env, KUBECONFIG: plane.kubeconfigPath, ...env };
  // A test is itself called by make, whose variables would become those of this one.
  for (const name of ['MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'NODE_TEST_CONTEXT']) delete (own as NodeJS.ProcessEnv)[name];
  return new Promise((resolve) => {
    execFile('make', ['-s', ...args], { cwd: root, env: own, timeout: 200_000 }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    );
  });
}

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await make(args);
  equal(code, 0, `${stdout}\n${stderr}`);
  return stdout;
}

const count = async (resource: string): Promise<number> =>
  (await must(plane, ['get', resource, '-A', '-o', 'name'])).split('\n').filter((line) => line !== '').length;

describe('a cluster that is not named', () => {
  for (const target of ['install', 'uninstall', 'deploy', 'undeploy', 'samples'])
    test(`is not touched by make ${target}`, async () => {
      const { code, stderr } = await make([target, 'IMG=baton:test']);
      equal(code, 2);
      match(stderr, new RegExp(`make ${target} CONTEXT=name`));
    });

  test('is not named by a variable of the environment', async () => {
    const { code, stderr } = await make(['install'], { CONTEXT: context });
    equal(code, 2);
    match(stderr, /CONTEXT=name/);
  });

  test('is still as it was', async () => equal(await count('crd'), 0));

  test('a context that does not exist is refused with those that do', async () => {
    const { code, stderr } = await make(['install', 'CONTEXT=nowhere']);
    ok(code !== 0);
    match(stderr, new RegExp(`"nowhere" is not in contexts; choose one of: ${context}`));
  });
});

describe('a cluster that is named', () => {
  test('is told what to do first when it has no kinds yet, and has nothing to remove', async () => {
    const { code, stderr } = await make(['samples', `CONTEXT=${context}`]);
    equal(code, 2);
    match(stderr, /does not have the kind MLModel yet: first make install CONTEXT=/);
    for (const target of ['undeploy', 'uninstall'])
      match(await done(target, `CONTEXT=${context}`), /nothing: none of it was there/);
  });

  test('gets the kinds and no operator by install', async () => {
    await done('install', `CONTEXT=${context}`);
    equal(await count('crd'), productKinds.length);
    equal(await count('validatingadmissionpolicy'), productKinds.filter(({ kind }) => kind in secretUse).length);
    equal(await count('deployment'), 0);
  });

  test('gets the operator by deploy, whose pod Pod Security restricted lets in', async () => {
    match(await done('deploy', `CONTEXT=${context}`, 'IMG=baton:test'), /The operator is running/);
    const pods = await must(plane, [
      '-n',
      'baton-system',
      'get',
      'pods',
      '-o',
      'jsonpath={.items[*].spec.containers[*].image}',
    ]);
    equal(pods, 'baton:test');
    const account = 'system:serviceaccount:baton-system:baton';
    const can = await plane.kubectl(['auth', 'can-i', 'create', 'deployments.apps', '-n', 'default', '--as', account]);
    equal(can.stdout.trim(), 'yes');
  });

  test('lets whoever may edit a namespace edit models', async () => {
    await must(plane, ['create', 'rolebinding', 'ed', '--clusterrole=edit', '--user=ed', '-n', 'default']);
    const can = (verb: string) =>
      plane.kubectl(['auth', 'can-i', verb, 'mlmodels.baton.dev', '-n', 'default', '--as', 'ed']);
    equal((await can('create')).stdout.trim(), 'yes');
  });

  test('gets the samples, and is asked twice before they are deleted', async () => {
    await done('samples', `CONTEXT=${context}`);
    equal(await count('mlm'), samples);
    equal(await count('baton'), files.length);
    const { code, stderr } = await make(['uninstall', `CONTEXT=${context}`]);
    equal(code, 2);
    match(stderr, new RegExp(`${samples} objects of MLModel \\(default/`));
    equal(await count('mlm'), samples);
  });

  test('keeps no right of a former installation that the next one does not need', async () => {
    const said = await done('deploy', `CONTEXT=${context}`, 'IMG=baton:test', 'NAMESPACES=default');
    match(said, /Removed, as it is not needed any more:\n(?:  .*\n)*  ClusterRole baton\n/);
    equal((await plane.kubectl(['get', 'clusterrole', 'baton'])).code, 1);
    match(await must(plane, ['-n', 'default', 'get', 'role', '-o', 'name']), /baton/);
  });

  test('keeps its kinds while the operator is there', async () => {
    const { code, stderr } = await make(['uninstall', `CONTEXT=${context}`, 'MODELS=delete']);
    equal(code, 2);
    match(stderr, /The operator still runs in .*: first make undeploy CONTEXT=/);
    equal(await count('mlm'), samples);
  });

  test('loses the operator with all its rights and keeps its models by undeploy', async () => {
    await done('undeploy', `CONTEXT=${context}`);
    equal(await count('deployment'), 0);
    equal(await count('mlm'), samples);
    equal((await plane.kubectl(['get', 'clusterrole', 'baton'])).code, 1);
    equal(await must(plane, ['-n', 'default', 'get', 'role', '-o', 'name']), '');
  });

  test('loses everything by uninstall that says so', async () => {
    await done('uninstall', `CONTEXT=${context}`, 'MODELS=delete');
    await must(plane, ['wait', '--for=delete', 'crd', '--all', '--timeout=60s']);
    equal(await count('validatingadmissionpolicy'), 0);
    equal((await plane.kubectl(['get', 'clusterrole', 'baton-edit'])).code, 1);
  });
});

test('the installer is one file that an empty cluster takes as it is', async () => {
  await must(plane, ['wait', '--for=delete', 'namespace/baton-system', '--timeout=60s']);
  await done('build-installer', 'IMG=baton:one-file');
  const file = join(root, 'dist/install.yaml');
  await must(plane, ['apply', '-f', file]);
  await must(plane, ['-n', 'baton-system', 'rollout', 'status', 'deployment/baton', '--timeout=60s']);
  const copy = join(plane.folder, 'install.yaml');
  writeFileSync(copy, readFileSync(file));
  match(await must(plane, ['diff', '-f', copy]), /^$/);
});
