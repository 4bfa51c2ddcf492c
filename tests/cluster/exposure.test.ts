// The ways to the outside on the real API server. The test plays the cloud, the ingress controller and the gateway by writing
// status; the operator is started again for another way, as an installation does it.

import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Call } from '../../controlplane/faults/index.ts';
import { MLModel } from '../../src/api/index.ts';
import type { ExposureSettings } from '../../src/operator/index.ts';
import {
  conditionOf,
  HTTPRoute,
  Ingress,
  type Kind,
  kindOf,
  KubeEvent,
  type KubeObject,
  PodDisruptionBudget,
  Service,
} from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { routeCRD } from '../kit/gateway.ts';
import type { MainOptions } from '../kit/main.ts';
import type { RunningOperator } from '../kit/process.ts';
import { untilReady } from '../kit/ready.ts';
import { must, product, type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
let operator: RunningOperator | undefined;
/** Namespaces in which a quota refuses. */
const limited = new Set<string>();
before(async () => {
  rig = await startRig({ nodes: 1 }, product);
});
after(async () => {
  // While its CRD is being deleted nobody may create a route; without the right to it there would be none in the stories.
  const isRefused = (call: Call) =>
    call.answer?.status === 403 &&
    `${call.verb} ${call.resource}` !== 'create httproutes' &&
    !limited.has(call.namespace ?? '');
  const forbidden = rig.proxy.trace.requests({}).filter(isRefused);
  await rig.stop();
  deepEqual(forbidden, [], 'the generated roles are enough for every way');
});

/** The operator with this way to the outside, instead of the one before. */
async function exposing(
  exposure: Partial<ExposureSettings>,
  own: Pick<MainOptions, 'limits'> = {},
): Promise<RunningOperator> {
  await operator?.stop();
  operator = await rig.operator({ exposure, ...own });
  return operator;
}

const hosted = { exposureDomain: 'models.example.com' };
const byIngress = { exposure: 'Ingress', ingressClass: 'edge', ...hosted } as const;
const byGateway = { exposure: 'Gateway', gateway: { namespace: 'edge', name: 'shared' }, ...hosted } as const;

const spec = {
  modelURL: 'https://models.example/iris-1.onnx',
  storageSize: '1Gi',
  framework: 'onnx',
  expose: true,
};

/** A model that is served in a namespace of its own. */
async function served(): Promise<string> {
  const namespace = await rig.namespace();
  await rig.apply(MLModel, { metadata: { namespace, name: 'iris' }, spec });
  await untilReady(() => get(namespace));
  return namespace;
}

const get = (namespace: string) => rig.admin.get(MLModel, { namespace, name: 'iris' });

/** Waits until `Exposed` has this reason, and answers with the model. */
const says = (namespace: string, reason: string, within = 30_000): Promise<MLModel> =>
  eventually(
    async () => {
      const now = await get(namespace);
      equal(conditionOf(now.status, 'Exposed')?.reason, reason);
      return now;
    },
    { within, what: `Exposed says ${reason}` },
  );

/** What exists under the name by which a model is exposed. */
async function exposures(namespace: string, kinds: readonly Kind[] = [Service, Ingress, HTTPRoute]): Promise<string[]> {
  const found = await Promise.all(kinds.map((kind) => rig.get<KubeObject>(kind, namespace, 'iris-expose')));
  return found.filter((one) => one !== undefined).map(({ kind }) => kind);
}

/** Plays whoever answers: writes the status of what exposes a model. */
const answer = (kind: Kind, namespace: string, status: object): Promise<string> =>
  must(rig.plane, [
    '-n',
    namespace,
    'patch',
    kind.plural,
    'iris-expose',
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ]);

const address = (ip: string) => ({ loadBalancer: { ingress: [{ ip }] } });

/** The gateway's word about the route as it is now. */
async function gatewaySays(namespace: string, accepted: boolean, reason: string, message = ''): Promise<void> {
  const route = await eventually(() => rig.get(HTTPRoute, namespace, 'iris-expose'), { what: 'there is a route' });
  const said = { observedGeneration: route.metadata.generation, lastTransitionTime: '2026-01-01T00:00:00Z' };
  const conditions = [
    { type: 'Accepted', status: accepted ? 'True' : 'False', reason, message, ...said },
    { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs', message: '', ...said },
  ];
  const parentRef = { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'edge', name: 'shared' };
  await answer(HTTPRoute, namespace, {
    parents: [{ parentRef, controllerName: 'example.com/gateway', conditions }],
  });
}

const installRoutes = async () => {
  await must(rig.plane, ['apply', '-f', '-'], JSON.stringify(routeCRD));
  await must(rig.plane, ['wait', '--for=condition=Established', '--timeout=30s', 'crd', routeCRD.metadata.name]);
};
const removeRoutes = () => must(rig.plane, ['delete', 'crd', routeCRD.metadata.name, '--timeout=60s']);

describe('one way after the other', () => {
  test('each waits for its answer, says where the model is reached, and leaves nothing of the one before', async () => {
    await exposing({ exposure: 'LoadBalancer', exposureAnnotations: { 'example.com/scheme': 'internal' } });
    const namespace = await served();
    await says(namespace, 'Waiting');
    const balanced = await rig.admin.get(Service, { namespace, name: 'iris-expose' });
    deepEqual(
      [balanced.spec.type, balanced.metadata.annotations?.['example.com/scheme']],
      ['LoadBalancer', 'internal'],
    );
    await answer(Service, namespace, address('203.0.113.7'));
    equal((await says(namespace, 'LoadBalancer')).status?.externalURL, 'http://203.0.113.7:8080');

    await exposing(byIngress);
    await says(namespace, 'Waiting');
    await eventually(async () => (await exposures(namespace, [Service, Ingress])).join() === 'Ingress');
    await answer(Ingress, namespace, address('203.0.113.8'));
    const { status } = await says(namespace, 'Ingress');
    equal(status?.externalURL, `http://iris.${namespace}.models.example.com`);

    await exposing({ exposure: 'NodePort' });
    const back = await says(namespace, 'NodePort');
    equal(back.status?.externalURL, undefined);
    await eventually(async () => (await exposures(namespace, [Service, Ingress])).join() === 'Service');
    equal((await rig.admin.get(Service, { namespace, name: 'iris-service' })).spec.type, 'ClusterIP');

    await rig.apply(MLModel, { metadata: { namespace, name: 'iris' }, spec: { ...spec, expose: false } });
    await says(namespace, 'NotAsked');
    deepEqual(await exposures(namespace, [Service, Ingress]), []);
    const corrected = (await rig.list(KubeEvent, namespace)).filter(({ reason }) => reason === 'DriftCorrected');
    deepEqual(corrected, [], 'another setting is nobody else at work');
  });

  test('a Service that becomes another keeps its name, in both directions', async () => {
    await exposing({ exposure: 'NodePort' });
    const namespace = await served();
    const port = (await says(namespace, 'NodePort')).status;
    const { metadata } = await rig.admin.get(Service, { namespace, name: 'iris-expose' });
    await exposing({ exposure: 'LoadBalancer' });
    await says(namespace, 'Waiting');
    await answer(Service, namespace, address('203.0.113.9'));
    await says(namespace, 'LoadBalancer');
    await exposing({ exposure: 'NodePort' });
    deepEqual(
      conditionOf((await says(namespace, 'NodePort')).status, 'Exposed')?.message,
      conditionOf(port, 'Exposed')?.message,
      'the port of the nodes stays',
    );
    const now = await rig.admin.get(Service, { namespace, name: 'iris-expose' });
    deepEqual([now.metadata.uid, now.spec.type], [metadata.uid, 'NodePort']);
  });
});

/** Waits until the exposure is refused for this reason while the model is served as if nothing were. */
async function refusedApart(namespace: string, reason: string): Promise<string> {
  await untilReady(() => get(namespace));
  const { status } = await says(namespace, reason);
  deepEqual(
    ['Ready', 'Stalled', 'Exposed'].map((type) => conditionOf(status, type)?.status),
    ['True', 'False', 'False'],
  );
  equal(status?.phase, 'Ready');
  return conditionOf(status, 'Exposed')?.message ?? '';
}

describe('an exposure that a quota refuses', () => {
  const ResourceQuota = kindOf<KubeObject & { status?: { hard?: object } }>('v1', 'ResourceQuota', 'resourcequotas');

  test('is told as that, holds up nothing, and is made once there is room', async () => {
    await exposing({ exposure: 'LoadBalancer' });
    const namespace = await rig.namespace();
    limited.add(namespace);
    const hard = { 'services.loadbalancers': '0' };
    await rig.apply(ResourceQuota, { metadata: { namespace, name: 'none' }, spec: { hard } });
    await eventually(async () => (await rig.get(ResourceQuota, namespace, 'none'))?.status?.hard !== undefined);
    await rig.apply(MLModel, { metadata: { namespace, name: 'iris' }, spec: { ...spec, replicas: 2 } });
    const message = await refusedApart(namespace, 'QuotaExceeded');
    match(message, /^the quota does not allow Service iris-expose: exceeded quota: none, .*services\.loadbalancers=0$/);
    equal((await rig.list(PodDisruptionBudget, namespace)).length, 1, 'what else is wanted is made');
    const told = (await rig.list(KubeEvent, namespace)).filter(({ source }) => source?.component === 'baton');
    deepEqual(
      told.map(({ type, reason, involvedObject }) => [type, reason, involvedObject.kind]),
      [['Warning', 'QuotaExceeded', 'MLModel']],
      'nothing was put back, nothing else turned bad',
    );
    await rig.admin.delete(ResourceQuota, { namespace, name: 'none' });
    await says(namespace, 'Waiting', 60_000);
    deepEqual(await exposures(namespace, [Service]), ['Service']);
  });
});

describe('an address that does not come', () => {
  test('is told in the words of the cloud', async () => {
    await exposing({ exposure: 'LoadBalancer' });
    const namespace = await served();
    const { metadata } = await rig.admin.get(Service, { namespace, name: 'iris-expose' });
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, name: 'no-address' },
      involvedObject: { apiVersion: 'v1', kind: 'Service', namespace, name: 'iris-expose', uid: metadata.uid },
      type: 'Warning',
      reason: 'SyncLoadBalancerFailed',
      message: 'Error syncing load balancer: quota of addresses is used up',
    };
    await must(rig.plane, ['create', '-f', '-'], JSON.stringify(event));
    const told = conditionOf((await says(namespace, 'LoadBalancerFailed')).status, 'Exposed');
    match(told?.message ?? '', /^Service iris-expose gets no address: .*quota of addresses is used up$/);
  });
});

describe('an Ingress', () => {
  test('is kept as it should be, changed with the settings, and never taken from a stranger', async () => {
    await exposing(byIngress);
    const namespace = await rig.namespace();
    const strange = { defaultBackend: { service: { name: 'other', port: { number: 80 } } } };
    await rig.apply(Ingress, { metadata: { namespace, name: 'iris-expose' }, spec: strange });
    await rig.apply(MLModel, { metadata: { namespace, name: 'iris' }, spec });
    const message = await refusedApart(namespace, 'OwnershipConflict');
    match(message, /^Ingress iris-expose exists already and was not made by Baton; .* Rename or delete it to go on$/);
    await rig.admin.delete(Ingress, { namespace, name: 'iris-expose' });
    await says(namespace, 'Waiting', 60_000);
    const host = async () => (await rig.get(Ingress, namespace, 'iris-expose'))?.spec.rules?.[0]?.host;
    const right = `iris.${namespace}.models.example.com`;
    await eventually(async () => (await host()) === right);
    const drift = '[{"op":"replace","path":"/spec/rules/0/host","value":"other.example.com"}]';
    await must(rig.plane, ['-n', namespace, 'patch', 'ingress', 'iris-expose', '--type=json', '-p', drift]);
    await eventually(async () => (await host()) === right, { what: 'the host is put back' });
    await exposing({ ...byIngress, exposureTls: true, exposureDomain: 'elsewhere.example' });
    const elsewhere = `iris.${namespace}.elsewhere.example`;
    await eventually(async () => (await host()) === elsewhere, { what: 'the host is another' });
    await answer(Ingress, namespace, address('203.0.113.8'));
    equal((await says(namespace, 'Ingress')).status?.externalURL, `https://${elsewhere}`);
    const since = rig.proxy.trace.mark();
    await pause(1_500);
    deepEqual(
      rig.proxy.trace.writes({ namespace }).filter(({ seq }) => seq > since),
      [],
      'what the server makes of it is no difference',
    );
  });
});

describe('a Gateway', () => {
  test('is said to be missing with its API, which is noticed when it comes, when it goes and when it comes again', async () => {
    const running = await exposing(byGateway);
    const namespace = await served();
    const missing = await says(namespace, 'GatewayAPIMissing');
    match(
      conditionOf(missing.status, 'Exposed')?.message ?? '',
      /httproutes\.gateway\.networking\.k8s\.io\/v1: install/,
    );
    equal((await running.probe('/readyz')).status, 200, 'nothing else waits for it');
    for (const time of ['first', 'again']) {
      await installRoutes();
      await says(namespace, 'Waiting');
      await gatewaySays(namespace, true, 'Accepted');
      const { status } = await says(namespace, 'Gateway');
      equal(status?.externalURL, `http://iris.${namespace}.models.example.com`);
      await removeRoutes();
      await says(namespace, 'GatewayAPIMissing');
      equal((await running.probe('/readyz')).status, 200, `it goes on without it, ${time}`);
    }
    equal(conditionOf((await get(namespace)).status, 'Ready')?.status, 'True');
    const alarms = (await rig.list(KubeEvent, namespace)).filter(
      ({ type, source }) => type === 'Warning' && source?.component === 'baton',
    );
    deepEqual(alarms, [], 'none of that is a reason for alarm');
  });

  test('tells why it does not take a route, keeps the route as it should be, and goes with the way', async () => {
    await installRoutes();
    await exposing(byGateway);
    const namespace = await served();
    await gatewaySays(namespace, false, 'NotAllowedByListeners', 'no routes from here');
    const refused = await says(namespace, 'NotAllowedByListeners');
    match(conditionOf(refused.status, 'Exposed')?.message ?? '', /does not take the route: no routes from here/);
    const drift = '[{"op":"replace","path":"/spec/hostnames/0","value":"other.example.com"}]';
    await must(rig.plane, ['-n', namespace, 'patch', 'httproute', 'iris-expose', '--type=json', '-p', drift]);
    const hosts = async () => (await rig.get(HTTPRoute, namespace, 'iris-expose'))?.spec.hostnames?.join();
    await eventually(async () => (await hosts()) === `iris.${namespace}.models.example.com`);
    await gatewaySays(namespace, true, 'Accepted');
    await says(namespace, 'Gateway');
    const since = rig.proxy.trace.mark();
    await pause(1_500);
    deepEqual(
      rig.proxy.trace.writes({ namespace }).filter(({ seq }) => seq > since),
      [],
      'defaults of the API are no difference',
    );
    await exposing(byIngress);
    await eventually(async () => (await exposures(namespace)).join() === 'Ingress', { what: 'the route goes' });
    await exposing(byGateway);
    await eventually(async () => (await exposures(namespace)).join() === 'HTTPRoute', { what: 'the Ingress goes' });
  });

  test('never takes a route from a stranger', async () => {
    await installRoutes();
    await exposing(byGateway);
    const namespace = await rig.namespace();
    await rig.apply(HTTPRoute, {
      metadata: { namespace, name: 'iris-expose' },
      spec: { hostnames: ['other.example'] },
    });
    await rig.apply(MLModel, { metadata: { namespace, name: 'iris' }, spec });
    await refusedApart(namespace, 'OwnershipConflict');
    const { spec: held } = await rig.admin.get(HTTPRoute, { namespace, name: 'iris-expose' });
    deepEqual(held.hostnames, ['other.example']);
  });

  test('is found in pages where the server does not stream its routes', async () => {
    await installRoutes();
    const silent = (resource: string) => ({
      when: { request: { verb: 'watch', resource } },
      do: { kind: 'silentWatchList', send: 'nothing' } as const,
      times: 'always' as const,
    });
    await operator?.stop();
    rig.proxy.setPlan([silent('httproutes'), silent('ingresses')]);
    await exposing(byGateway, { limits: { listSilence: 500 } });
    const namespace = await served();
    await says(namespace, 'Waiting');
    rig.proxy.clearPlan();
  });
});
