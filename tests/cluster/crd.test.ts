// What a schema promises is kept by the real API server: the CRDs of the test kind, a kind with the rarer pieces, and
// random schemas; and the generated roles allow exactly what the definition needs.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { type Answer, type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { needsOf } from '../../src/kube/index.ts';
import { commonStatus, crdOf, defineKind, SchemaError } from '../../src/schema/index.ts';
import { specs } from '../kit/schemas.ts';
import { askedTrio } from '../kit/trio/builders.ts';
import { cleaningTrioController } from '../kit/trio/controller.ts';

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane({ controllers: 'none' });
});
after(() => plane?.stop());

const crdFolder = join(import.meta.dirname, '../kit/trio/deploy/crds');
const rbacFolder = join(import.meta.dirname, '../kit/trio/deploy/rbac');
const trios = '/apis/test.baton.dev/v1alpha1/namespaces/default/trios';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Runs kubectl and expects it to succeed. */
async function kubectl(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await plane.kubectl(args);
  equal(code, 0, stderr);
  return stdout;
}

const dryRun = (path: string, body: unknown): Promise<Answer> =>
  plane.request({ method: 'POST', path: `${path}?dryRun=All&fieldValidation=Strict`, body });

const messageOf = ({ body }: Answer): string => (body as { message?: string }).message ?? '';

type Wish = NonNullable<Parameters<typeof askedTrio>[1]>;
/** A spec that the compiler would not let through. */
const wrong = (spec: Record<string, unknown>): Wish => spec;

describe('the CRDs of the test kind', () => {
  test('apply with plain kubectl and are established', async () => {
    match(await kubectl('apply', '-f', crdFolder), /trios\.test\.baton\.dev created/);
    await kubectl('wait', '--for=condition=Established', '--timeout=30s', '-f', crdFolder);
    match(await kubectl('apply', '-f', crdFolder), /trios\.test\.baton\.dev unchanged/);
    const { body } = await plane.request({ path: `${definitions}/trios.test.baton.dev` });
    const { conditions } = (body as { status: { conditions: { type: string }[] } }).status;
    ok(!conditions.some(({ type }) => type === 'NonStructuralSchema'));
  });

  const accepted: { name: string; spec: Wish }[] = [
    { name: 'a text is enough', spec: {} },
    { name: 'a port by number', spec: { port: 80 } },
    { name: 'a port by name', spec: { port: 'http' } },
    { name: 'memory as a number', spec: { memory: 1024 } },
    { name: 'memory as a quantity', spec: { memory: '1.5Gi' } },
    { name: 'labels', spec: { labels: { a: 'b' } } },
    { name: 'several variables', spec: { env: [{ name: 'A' }, { name: 'B', value: 'b' }] } },
  ];
  for (const { name, spec } of accepted)
    test(`takes: ${name}`, async () => {
      const answer = await dryRun(trios, askedTrio('taken', spec));
      equal(answer.status, 201, messageOf(answer));
    });

  const refused: { name: string; spec: Wish; says: RegExp }[] = [
    { name: 'a missing text', spec: wrong({ text: undefined }), says: /spec\.text: Required value/ },
    { name: 'an unknown field', spec: wrong({ txet: '' }), says: /unknown field "spec\.txet"/ },
    { name: 'a number below its bound', spec: { replicas: -1 }, says: /spec\.replicas: Invalid value: -1/ },
    { name: 'a number above its bound', spec: { replicas: 11 }, says: /spec\.replicas: Invalid value: 11/ },
    { name: 'a string that is too long', spec: { image: 'x'.repeat(257) }, says: /spec\.image: Too long/ },
    { name: 'a string that is too short', spec: { image: '' }, says: /spec\.image: Invalid value/ },
    { name: 'a stranger to the enum', spec: wrong({ mode: 'Odd' }), says: /spec\.mode: Unsupported value: "Odd"/ },
    { name: 'a pattern that does not match', spec: { readFrom: 'No' }, says: /spec\.readFrom: Invalid value: "No"/ },
    { name: 'a port out of bounds', spec: { port: 70_000 }, says: /spec\.port: Invalid value: 70000/ },
    { name: 'a port name that is none', spec: { port: 'No' }, says: /spec\.port: Invalid value: "No"/ },
    { name: 'a port of another type', spec: wrong({ port: true }), says: /spec\.port: Invalid value: "?boolean/ },
    { name: 'a quantity that is none', spec: { memory: 'much' }, says: /spec\.memory: Invalid value: "much"/ },
    {
      name: 'two variables of one name',
      spec: { env: [{ name: 'A' }, { name: 'A' }] },
      says: /spec\.env\[1\]: Duplicate value/,
    },
    { name: 'a variable without a name', spec: wrong({ env: [{}] }), says: /spec\.env\[0\]\.name: Required value/ },
    { name: 'a path twice', spec: { paths: ['a', 'a'] }, says: /spec\.paths\[1\]: Duplicate value/ },
    { name: 'a key that is too long', spec: { labels: { ['k'.repeat(64)]: '' } }, says: /spec\.labels: .*1 to 63/ },
    { name: 'a value that is too long', spec: { labels: { k: 'v'.repeat(64) } }, says: /spec\.labels\.k: Too long/ },
    {
      name: 'too many keys',
      spec: { labels: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, ''])) },
      says: /spec\.labels: Too many/,
    },
    { name: 'a broken rule', spec: { mode: 'Fancy', text: '' }, says: /spec\.text: .*mode Fancy needs a text/ },
  ];
  for (const { name, spec, says } of refused)
    test(`refuses, with the path: ${name}`, async () => {
      const answer = await dryRun(trios, askedTrio('refused', spec));
      ok([400, 422].includes(answer.status), JSON.stringify(answer.body));
      match(messageOf(answer), says);
    });

  test('refuses a long name, with the path', async () => {
    const answer = await dryRun(trios, askedTrio('n'.repeat(41)));
    match(messageOf(answer), /metadata\.name: Too long: may not be more than 40/);
  });

  test('fill in the defaults', async () => {
    const { body } = await plane.request({
      method: 'POST',
      path: trios,
      body: askedTrio('defaulted', { env: [{ name: 'A' }] }),
    });
    deepEqual((body as { spec: unknown }).spec, {
      text: 'hello',
      env: [{ name: 'A', value: '' }],
      replicas: 1,
      image: 'server:1',
      port: 8080,
      memory: '16Mi',
      mode: 'Plain',
      withJob: true,
      jobMessage: 'done',
    });
  });

  const patch = (path: string, body: unknown) =>
    plane.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });

  test('keep what is immutable', async () => {
    const answer = await patch(`${trios}/defaulted`, { spec: { jobMessage: 'other' } });
    equal(answer.status, 422);
    match(messageOf(answer), /spec\.jobMessage: .*is immutable/);
    equal((await patch(`${trios}/defaulted`, { spec: { text: 'other' } })).status, 200);
  });

  test('have a status apart from the spec', async () => {
    const status = { phase: 'Ready', replicas: 1, selector: 'a=b', result: 'done' };
    equal((await patch(`${trios}/defaulted/status`, { spec: { text: 'no' }, status })).status, 200);
    const { body } = await plane.request({ path: `${trios}/defaulted` });
    const seen = body as { spec: { text: string }; status: { phase: string } };
    deepEqual([seen.spec.text, seen.status.phase], ['other', 'Ready']);
  });

  test('can be scaled, and show which pods count', async () => {
    await kubectl('scale', 'trio/defaulted', '--replicas=3');
    const { body } = await plane.request({ path: `${trios}/defaulted/scale` });
    const { spec, status } = body as { spec: unknown; status: unknown };
    deepEqual({ spec, status }, { spec: { replicas: 3 }, status: { replicas: 1, selector: 'a=b' } });
  });

  test('are listed by short name and by category, with their columns', async () => {
    match(await kubectl('get', 'trio'), /^NAME +PHASE +READY +REASON +REPLICAS +AGE\s+defaulted +Ready +3 /);
    match(await kubectl('get', 'baton', '-o', 'wide'), /trio\.test\.baton\.dev\/defaulted.* done /);
  });

  test('are explained field by field', async () => {
    match(await kubectl('explain', 'trio'), /A text in a ConfigMap, a Job that speaks once/);
    match(await kubectl('explain', 'trio.spec.env.name'), /The name of the variable\./);
    match(await kubectl('explain', 'trio.status.conditions'), /Types: Ready, Reconciling, Stalled\./);
  });

  test('serve the same kind under its other name', async () => {
    const path = '/apis/old.test.baton.dev/v1/namespaces/default/oldtrios';
    const other = { ...askedTrio('other'), apiVersion: 'old.test.baton.dev/v1', kind: 'OldTrio' };
    equal((await dryRun(path, other)).status, 201);
    match(messageOf(await dryRun(path, { ...other, spec: {} })), /spec\.text: Required value/);
  });
});

/** A kind with one field, for what the test kind does not have. */
const kindWith = (spec: z.ZodType, plural: string) =>
  defineKind({
    group: 'grammar.baton.dev',
    version: 'v1',
    kind: 'Thing',
    plural,
    description: 'A thing.',
    spec: spec as z.ZodObject,
    status: commonStatus.describe('Status.'),
  });

const text = z.string().max(9).describe('Text.');
const source = z.xor([
  z.object({ git: text, depth: z.int().min(0).max(9).optional().describe('Depth.') }),
  z.object({ oci: text }),
]);
const shape = z.discriminatedUnion('type', [
  z.object({ type: z.literal('circle').describe('Type.'), radius: text }),
  z.object({ type: z.literal('square').describe('Type.'), side: text }),
]);
const rare = kindWith(
  z
    .object({
      source: source.optional().describe('Source.'),
      shape: shape.optional().describe('Shape.'),
      maybe: text.nullable().optional().describe('Perhaps.'),
      share: z.number().gt(0).lt(1).optional().describe('Share.'),
      when: z.iso.datetime().optional().describe('When.'),
      codes: z.record(z.string().regex(/^\d+$/), text).meta({ maxProperties: 4 }).optional().describe('Codes.'),
    })
    .describe('Spec.'),
  'things',
);

describe('unions and the rarer pieces', () => {
  before(async () => {
    const { code, stderr } = await plane.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(crdOf(rare)) });
    equal(code, 0, stderr);
    await kubectl('wait', '--for=condition=Established', '--timeout=30s', 'crd/things.grammar.baton.dev');
  });

  const rows: { spec: Record<string, unknown>; taken: boolean }[] = [
    { spec: { source: { git: 'a' } }, taken: true },
    { spec: { source: { git: 'a', depth: 1 } }, taken: true },
    { spec: { source: { oci: 'a' } }, taken: true },
    { spec: { source: {} }, taken: false },
    { spec: { source: { git: 'a', oci: 'b' } }, taken: false },
    { spec: { source: { oci: 'a', depth: 1 } }, taken: false },
    { spec: { shape: { type: 'circle', radius: '1' } }, taken: true },
    { spec: { shape: { type: 'circle', side: '1' } }, taken: false },
    { spec: { shape: { type: 'square', side: '1', radius: '1' } }, taken: false },
    { spec: { shape: { type: 'round', radius: '1' } }, taken: false },
    { spec: { maybe: null }, taken: true },
    { spec: { maybe: 'a' }, taken: true },
    { spec: { maybe: 3 }, taken: false },
    { spec: { share: 0.5 }, taken: true },
    { spec: { share: 0 }, taken: false },
    { spec: { share: 1 }, taken: false },
    { spec: { when: '2026-01-02T03:04:05Z' }, taken: true },
    { spec: { when: 'noon' }, taken: false },
    { spec: { codes: { 12: 'a' } }, taken: true },
    { spec: { codes: { x: 'a' } }, taken: false },
  ];
  for (const { spec, taken } of rows)
    test(`${taken ? 'takes' : 'refuses'} ${JSON.stringify(spec)}, as zod does`, async () => {
      const thing = { apiVersion: 'grammar.baton.dev/v1', kind: 'Thing', metadata: { name: 'a' }, spec };
      const answer = await dryRun('/apis/grammar.baton.dev/v1/namespaces/default/things', thing);
      equal(answer.status, taken ? 201 : 422, messageOf(answer));
      if (taken) ok(rare.definition.spec.safeParse(spec).success);
    });
});

test('a random schema is refused with a path, or taken by the API server', { timeout: 300_000 }, async () => {
  const count = { refused: 0, taken: 0 };
  const property = fc.asyncProperty(specs, async (spec) => {
    const kind = kindWith(spec, 'randoms');
    try {
      const answer = await dryRun(definitions, crdOf(kind));
      equal(answer.status, 201, `${messageOf(answer)}\n${JSON.stringify(crdOf(kind), null, 1)}`);
      count.taken += 1;
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      for (const problem of error.problems) match(problem, /^spec[\w.[\]*()-]*: ./);
      count.refused += 1;
    }
  });
  await fc.assert(property, { numRuns: 400 });
  ok(count.taken > 80 && count.refused > 80, `the grammar is lopsided: ${JSON.stringify(count)}`);
});

describe('the generated roles', () => {
  const home = 'trio-system';
  const account = `system:serviceaccount:${home}:trio`;
  before(async () => {
    await kubectl('create', 'namespace', home);
    await kubectl('-n', home, 'create', 'serviceaccount', 'trio');
    match(await kubectl('apply', '-f', rbacFolder), /clusterrole\.rbac\.authorization\.k8s\.io\/trio created/);
  });

  const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

  /** Whether an account of that name may do something, as the API server's own authorizer says. */
  async function may(user: string, namespace: string, group: string, path: string, verb: string): Promise<boolean> {
    const [resource, subresource] = path.split('/');
    const resourceAttributes = { namespace, group, resource, subresource, verb };
    const groups = ['system:serviceaccounts', 'system:authenticated'];
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, resourceAttributes },
    };
    const answer = await plane.request({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body,
    });
    equal(answer.status, 201, messageOf(answer));
    return (answer.body as { status: { allowed: boolean } }).status.allowed;
  }

  /** Every namespaced resource that the API server serves, subresources included, as `group resource`. */
  async function resources(): Promise<[string, string][]> {
    const groups = [
      '/api/v1',
      '/apis/apps/v1',
      '/apis/batch/v1',
      '/apis/coordination.k8s.io/v1',
      '/apis/events.k8s.io/v1',
    ];
    const ours = ['/apis/test.baton.dev/v1alpha1', '/apis/old.test.baton.dev/v1', '/apis/rbac.authorization.k8s.io/v1'];
    const lists = [...groups, ...ours].map(async (path): Promise<[string, string][]> => {
      const { body } = await plane.request({ path });
      const { groupVersion, resources: found } = body as { groupVersion: string; resources: { name: string }[] };
      const group = groupVersion.includes('/') ? (groupVersion.split('/')[0] ?? '') : '';
      return found.map(({ name }) => [group, name]);
    });
    // No discovery names the right to set an owner that blocks deletion.
    const finalizers: [string, string][] = [
      ['test.baton.dev', 'trios/finalizers'],
      ['old.test.baton.dev', 'oldtrios/finalizers'],
    ];
    return [...(await Promise.all(lists)).flat(), ...finalizers];
  }

  /** All that the operator's account may do in a namespace beyond what any account may. */
  async function allowed(namespace: string): Promise<string[]> {
    const found: string[] = [];
    for (const [group, resource] of await resources())
      for (const verb of verbs)
        if (await may(account, namespace, group, resource, verb)) found.push(`${group}/${resource} ${verb}`);
    return found.toSorted();
  }

  const needed = () =>
    needsOf(cleaningTrioController).flatMap((rule) =>
      rule.verbs.map((verb) => `${rule.group}/${rule.resource} ${verb}`),
    );

  test('allow exactly what the definition needs, everywhere', async () => {
    deepEqual(await allowed('default'), needed().toSorted());
  });

  test('allow the Lease at home, and only there', async () => {
    const lease = ['create', 'get', 'update'].map((verb) => `coordination.k8s.io/leases ${verb}`);
    deepEqual(await allowed(home), [...needed(), ...lease].toSorted());
  });

  test('are what kubectl says too', async () => {
    const canI = async (...question: string[]) =>
      (await plane.kubectl(['auth', 'can-i', '--as', account, ...question])).stdout.trim();
    equal(await canI('list', 'trios.test.baton.dev', '--all-namespaces'), 'yes');
    equal(await canI('patch', 'trios.test.baton.dev', '--subresource=status'), 'yes');
    equal(await canI('delete', 'trios.test.baton.dev'), 'no');
    equal(await canI('get', 'secrets'), 'no');
    equal(await canI('*', '*'), 'no');
  });

  test('work with a token of the account', async () => {
    const token = await plane.token(home, 'trio');
    const as = (...args: string[]) =>
      plane.kubectl([
        '--kubeconfig=/dev/null',
        '--server',
        plane.url,
        '--token',
        token,
        '--insecure-skip-tls-verify',
        ...args,
      ]);
    match((await as('get', 'trios', '-A')).stdout, /defaulted/);
    match((await as('get', 'secrets', '-A')).stderr, /secrets is forbidden/);
  });
});
