// Who may name which Secret in a model: the API server decides by the generated policy, as different people try.

import { equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { DeviceTemplate, MLModel, ModelDeployment } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { Client, loadKubeconfig } from '../../src/kube/index.ts';
import type { Kind } from '../../src/objects/index.ts';
import { home } from '../../tools/index.ts';
import { eventually } from '../kit/eventually.ts';
import { must } from '../kit/rig.ts';

const deploy = join(import.meta.dirname, '../../deploy');
const namespace = 'team';
let plane: ControlPlane;

/** May read all Secrets; only the one called `mine`; none at all. All may edit models. */
const [lead, member, guest] = ['lead', 'member', 'guest'];

const rights = (name: string, rules: object[]) => [
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name, namespace }, rules },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  },
];
const models = { apiGroups: ['baton.dev'], resources: ['*'], verbs: ['*'] };
const secrets = (resourceNames?: string[]) => ({
  apiGroups: [''],
  resources: ['secrets'],
  verbs: ['get'],
  resourceNames,
});

before(async () => {
  plane = await startControlPlane({ controllers: 'none' });
  for (const place of [namespace, home.namespace]) await must(plane, ['create', 'namespace', place]);
  for (const folder of ['crds', 'policy', 'rbac']) await must(plane, ['apply', '-f', join(deploy, folder)]);
  await must(plane, ['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all']);
  const people = [
    ...rights(lead, [models, secrets()]),
    ...rights(member, [models, secrets(['mine', 'also-mine', ...Array.from({ length: 13 }, (_, at) => `mine-${at}`)])]),
    ...rights(guest, [models]),
  ];
  await must(plane, ['apply', '-f', '-'], people.map((object) => stringify(object)).join('---\n'));
  await eventually(async () => (await apply(guest, 'probe', { credentials: 'mine' })).code !== 0, {
    what: 'the policy is in force',
  });
});
after(() => plane.stop());

/** `replace --force` would lose the old object; a person's `kubectl apply` does not. */
const asks = (who: string, { apiVersion, kind }: Kind, name: string, spec: object) =>
  plane.kubectl(['--as', who, 'apply', '-f', '-'], {
    stdin: JSON.stringify({ apiVersion, kind, metadata: { name, namespace }, spec }),
  });

const source = { modelURL: 'https://models.example/a.onnx', storageSize: '1Gi', framework: 'onnx' };
const apply = (who: string, name: string, spec: object) => asks(who, MLModel, name, { ...source, ...spec });

/** Our own client as somebody else: kubectl reads before it writes, which the operator may not. */
function clientOf(who: string): Client {
  const config = parse(readFileSync(plane.kubeconfigPath, 'utf8')) as { users: { user: { as?: string } }[] };
  for (const { user } of config.users) user.as = who;
  return new Client({ cluster: loadKubeconfig(stringify(config)), clock: systemClock });
}

async function refused(who: string, name: string, spec: object, says: RegExp): Promise<void> {
  const { code, stderr } = await apply(who, name, spec);
  equal(code, 1, `${who} was let in`);
  match(stderr, says);
}

async function taken(who: string, name: string, spec: object): Promise<void> {
  const { code, stderr } = await apply(who, name, spec);
  equal(code, 0, stderr);
}

const env = (...names: string[]) => ({
  env: names.map((name, at) => ({ name: `V${at}`, secret: { name, key: 'k' } })),
});
const pulls = (...names: string[]) => ({ imagePullSecrets: names.map((name) => ({ name })) });

describe('a Secret that the requester may not read', () => {
  const fields: [string, (name: string) => object, RegExp][] = [
    ['credentials', (name) => ({ credentials: name }), /spec\.credentials: you may not read Secret "theirs"/],
    ['env', (name) => env('mine', name), /spec\.env\[\]\.secret\.name: you may not read Secret "theirs"/],
    [
      'imagePullSecrets',
      (name) => pulls(...new Set(['mine', name])),
      /spec\.imagePullSecrets\[\]\.name: you may not read Secret "theirs"/,
    ],
  ];
  for (const [field, spec, says] of fields) {
    test(`cannot be named in ${field} of a new model`, () =>
      refused(member, `new-${field.toLowerCase()}`, spec('theirs'), says));

    test(`cannot be put into ${field} of a model that is there`, async () => {
      const name = `old-${field.toLowerCase()}`;
      await taken(member, name, spec('mine'));
      await refused(member, name, spec('theirs'), says);
    });

    test(`can be named in ${field} by somebody who may read it`, () =>
      taken(lead, `lead-${field.toLowerCase()}`, spec('theirs')));
  }

  test('cannot be moved to where it would be shown, by somebody who only found it there', async () => {
    await taken(lead, 'moved', pulls('theirs'));
    await refused(guest, 'moved', { ...pulls('theirs'), ...env('theirs') }, /spec\.env/);
  });

  for (const [field, spec] of fields)
    test(`stays with what it was named for in ${field}`, async () => {
      const name = `use-${field.toLowerCase()}`;
      await taken(lead, name, spec('theirs'));
      const says = new RegExp(
        `spec\\.${field}\\S*: you may not read Secret "\\w+", so you may not change spec\\.modelURL while it is named: have yourself granted get on it, or ask somebody who may read it`,
      );
      await refused(guest, name, { ...spec('theirs'), modelURL: 'https://evil.example/a.onnx' }, says);
      await taken(lead, name, { ...spec('theirs'), modelURL: 'https://models.example/b.onnx' });
    });

  /** What an editor could do to be shown a Secret that somebody else named. */
  const detours: [string, object, string][] = [
    ['other weights run with it', { digest: `sha256:${'0'.repeat(64)}` }, 'digest'],
    ['another image is given it', { server: { image: 'evil.example/server:1' } }, 'server'],
    ['another command prints it', { server: { command: ['env'] } }, 'server'],
    ['another framework serves', { framework: 'tensorflow' }, 'framework'],
    ['a variable loads more code', { env: [{ name: 'LD_PRELOAD', value: '/models/model/evil.so' }] }, 'env'],
    ['an annotation asks for a sidecar', { podAnnotations: { 'inject.example/sidecar': 'evil' } }, 'podAnnotations'],
    ['a label opens the network', { podLabels: { egress: 'all' } }, 'podLabels'],
    ['another runtime is used', { runtimeClassName: 'evil' }, 'runtimeClassName'],
  ];
  for (const [at, [detour, change, field]] of detours.entries())
    test(`stays with what it was named for: ${detour}`, async () => {
      await taken(lead, `detour-${at}`, { credentials: 'theirs' });
      const says = new RegExp(`spec\\.credentials: .* so you may not change spec\\.${field} while it is named`);
      await refused(guest, `detour-${at}`, { credentials: 'theirs', ...change }, says);
    });

  test('stays with what it was named for, also where the edit brings another Secret', async () => {
    await taken(lead, 'both', { credentials: 'theirs' });
    await taken(member, 'both', { credentials: 'theirs', ...pulls('mine') });
    await refused(member, 'both', { credentials: 'theirs', ...env('mine') }, /spec\.credentials: .* change spec\.env/);
  });

  test('may be left out by somebody who changes the rest', async () => {
    await taken(lead, 'without', { credentials: 'theirs' });
    await taken(guest, 'without', { modelURL: 'https://other.example/b.onnx' });
  });

  test('cannot be asked for another of its keys', async () => {
    await taken(lead, 'keys', env('theirs'));
    await refused(guest, 'keys', { env: [{ name: 'V0', secret: { name: 'theirs', key: 'other' } }] }, /spec\.env/);
  });

  test('is refused among many', () =>
    refused(member, 'many', env('mine', 'mine', 'also-mine', 'mine-0', 'mine-1', 'mine-2', 'theirs'), /"theirs"/));
});

describe('what is not asked about', () => {
  const whole = { credentials: 'theirs', ...env('theirs'), ...pulls('theirs') };

  const edits: [string, object][] = [
    ['the number of servers', { replicas: 2 }],
    ['their resources', { resources: { requests: { cpu: '2' }, limits: { memory: '4Gi' } } }],
    ['the size of the volume', { storageSize: '2Gi' }],
    ['where they run', { nodeSelector: { zone: 'a' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] }],
    ['how they are rolled out', { rollout: { strategy: 'replace' } }],
    ['whether they are exposed', { expose: true }],
  ];
  for (const [at, [what, change]] of edits.entries())
    test(`a reference that stays, when somebody else edits ${what}`, async () => {
      await taken(lead, `shared-${at}`, whole);
      await taken(guest, `shared-${at}`, { ...whole, ...change });
    });

  test('labels and annotations of the model itself', async () => {
    await taken(lead, 'noted', whole);
    await must(plane, ['--as', guest, '-n', namespace, 'annotate', 'mlm/noted', 'baton.dev/retry=1']);
  });

  test('taking references away', async () => {
    await taken(lead, 'fewer', whole);
    await taken(guest, 'fewer', { env: [], imagePullSecrets: [] });
  });

  test('scaling', async () => {
    await taken(lead, 'scaled', whole);
    await must(plane, ['--as', guest, '-n', namespace, 'scale', 'mlm/scaled', '--replicas=3']);
  });

  test("the operator's own status writes", async () => {
    await taken(lead, 'told', whole);
    const operator = clientOf(`system:serviceaccount:${home.namespace}:${home.serviceAccount}`);
    const { apiVersion, kind } = MLModel;
    const object = { apiVersion, kind, metadata: { name: 'told', namespace }, status: { phase: 'Pending' } };
    const told = await operator.apply(MLModel, object, { manager: 'baton-status', subresource: 'status' });
    equal(told.status?.phase, 'Pending');
    await operator.close();
  });

  test('a model without Secrets', () => taken(guest, 'plain', {}));
});

describe('the price of a check', () => {
  const many = (count: number, prefix = 'mine') => Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
  const names = (count: number) => ({
    env: Array.from({ length: 64 }, (_, at) => ({ name: `V${at}`, secret: { name: `mine-${at % count}`, key: 'k' } })),
  });

  test('as many Secrets as the policy promises are asked about, for a whole list of variables, at every edit', async () => {
    const spec = { ...names(12), ...pulls(...many(8)), credentials: 'mine' };
    await taken(member, 'full', spec);
    await taken(member, 'full', { ...spec, modelURL: 'https://models.example/b.onnx' });
  });

  test('more of them are refused with a way out', () =>
    refused(
      member,
      'more',
      names(13),
      /spec\.env\[\]\.secret\.name: more than 12 Secrets .* have yourself granted get on/,
    ));

  test('more of them are no trouble for an edit that changes nothing about them', async () => {
    await taken(lead, 'kept', names(13));
    await taken(member, 'kept', { ...names(13), replicas: 2 });
  });

  test('whoever may read all Secrets has no such limit', () => taken(lead, 'all', env(...many(30, 'x'))));
});

describe('a ModelDeployment', () => {
  const asked = (who: string, spec: object) =>
    asks(who, ModelDeployment, 'iris', { image: 'registry.example/iris:1', ...spec });
  const pull = { imagePullSecrets: [{ name: 'mine' }] };

  test('names only Secrets that its author may read', async () => {
    match((await asked(guest, pull)).stderr, /spec\.imagePullSecrets.*you may not read Secret "mine"/);
    equal((await asked(member, pull)).code, 0);
  });

  test('is scaled by everybody, and gets another image only from somebody who may read its Secrets', async () => {
    equal((await asked(member, pull)).code, 0);
    equal((await asked(guest, { ...pull, replicas: 3, maxReplicas: 4 })).code, 0);
    for (const other of [{ image: 'elsewhere.example/iris:1' }, { annotations: { inject: 'yes' } }])
      match(
        (await asked(guest, { ...pull, ...other })).stderr,
        /you may not read Secret "mine"/,
        JSON.stringify(other),
      );
  });
});

describe('a DeviceTemplate', () => {
  const asked = (who: string, spec: object) =>
    asks(who, DeviceTemplate, 'lamp', { selector: { lamps: 'yes' }, ...spec });

  for (const field of ['imagePullSecret', 'imageRepoSecret'])
    test(`names in ${field} only a Secret that its author may read`, async () => {
      const pull = { [field]: { name: 'mine' } };
      match((await asked(guest, pull)).stderr, new RegExp(`spec\\.${field}\\.name: you may not read Secret "mine"`));
      equal((await asked(member, pull)).code, 0);
      equal((await asked(guest, { ...pull, maxdev: 3 })).code, 0, 'it may be edited by others');
      const other = { ...pull, consumer: 'elsewhere.example/consumer:1' };
      match((await asked(guest, other)).stderr, /you may not change spec\.consumer while it is named/);
    });
});
