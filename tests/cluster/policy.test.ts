// Who may name which Secret in a model: the API server decides by the generated policy, as different people try.

import { equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { MLModel } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { Client, loadKubeconfig } from '../../src/kube/index.ts';
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
const models = { apiGroups: ['baton.dev'], resources: ['mlmodels', 'mlmodels/scale'], verbs: ['*'] };
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
    ...rights(member, [models, secrets(['mine', 'also-mine', ...Array.from({ length: 12 }, (_, at) => `mine-${at}`)])]),
    ...rights(guest, [models]),
  ];
  await must(plane, ['apply', '-f', '-'], people.map((object) => stringify(object)).join('---\n'));
  await eventually(async () => (await apply(guest, 'probe', { credentials: 'mine' })).code !== 0, {
    what: 'the policy is in force',
  });
});
after(() => plane.stop());

const manifest = (name: string, spec: object) =>
  JSON.stringify({
    apiVersion: 'baton.dev/v1alpha1',
    kind: 'MLModel',
    metadata: { name, namespace },
    spec: { modelURL: 'https://models.example/a.onnx', storageSize: '1Gi', framework: 'onnx', ...spec },
  });

/** `replace --force` would lose the old object; a person's `kubectl apply` does not. */
const apply = (who: string, name: string, spec: object) =>
  plane.kubectl(['--as', who, 'apply', '-f', '-'], { stdin: manifest(name, spec) });

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
      (name) => pulls('mine', name),
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

  test('cannot be asked for another of its keys', async () => {
    await taken(lead, 'keys', env('theirs'));
    await refused(guest, 'keys', { env: [{ name: 'V0', secret: { name: 'theirs', key: 'other' } }] }, /spec\.env/);
  });

  test('is refused among many', () =>
    refused(member, 'many', env('mine', 'mine', 'also-mine', 'mine-0', 'mine-1', 'mine-2', 'theirs'), /"theirs"/));
});

describe('what is not asked about', () => {
  const whole = { credentials: 'theirs', ...env('theirs'), ...pulls('theirs') };

  test('a reference that stays, when somebody else edits the rest', async () => {
    await taken(lead, 'shared', whole);
    await taken(guest, 'shared', { ...whole, replicas: 2 });
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
  const many = Array.from({ length: 9 }, (_, at) => `mine-${at}`);

  test('as many Secrets as the policy promises can be new at once', () =>
    taken(member, 'eight', {
      ...env(...many.slice(0, 8)),
      ...pulls('mine-8', 'mine-9', 'mine-10', 'mine-11'),
      credentials: 'mine',
    }));

  test('more of them are refused with a way out, and come in steps', async () => {
    await refused(member, 'nine', env(...many), /spec\.env\[\]\.secret\.name: more than 8 Secrets are new at once/);
    await taken(member, 'nine', env(...many.slice(0, 8)));
    await taken(member, 'nine', env(...many));
  });

  test('whoever may read all Secrets has no such limit', () =>
    taken(lead, 'all', env(...many, ...many.map((name) => `x-${name}`))));
});
