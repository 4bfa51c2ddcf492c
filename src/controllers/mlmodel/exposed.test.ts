// The ways to the outside: what is made for each, what the condition says while nobody answers, and how one way follows
// another. The cloud, the ingress controller and the gateway are what a row says of them.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { childIn } from '../../../tests/kit/cluster/engine.ts';
import { aModel, claim, deployment, revision, serverPod } from '../../../tests/kit/mlmodel.ts';
import { look, noFacts } from '../../../tests/kit/plans.ts';
import { lacking, seen } from '../../../tests/kit/world.ts';
import {
  conditionOf,
  HTTPRoute,
  type Ingress,
  type KubeEvent,
  type KubeObject,
  type Service,
} from '../../objects/index.ts';
import { type Exposure, exposureOf } from './exposure.ts';

const model = aModel({ expose: true });
const served = [revision(model), claim(model, { digest: 'sha256:0' }), deployment(model), serverPod(model)];

const annotations = { 'example.com/scheme': 'internal' };
const hosted = { annotations: {}, domain: 'models.example.com', tls: false };
const gateway = { namespace: 'edge', name: 'shared' };
const ways = {
  NodePort: { by: 'NodePort', annotations: {} },
  LoadBalancer: { by: 'LoadBalancer', annotations },
  Ingress: { by: 'Ingress', className: 'nginx', ...hosted, tls: true, annotations },
  Gateway: { by: 'Gateway', gateway, ...hosted },
} as const satisfies Record<string, Exposure>;

/** The object of a way as the cluster holds it. */
function held(exposure: Exposure, status?: object): KubeObject {
  const object = exposureOf(model, 8080, exposure);
  const metadata = { ...object.metadata, namespace: 'shop', uid: 'uid-expose', generation: 2 };
  const whole = { ...object, metadata, ...(status && { status }) };
  return whole;
}

/** What is said and wanted of the outside. */
function outside(exposure: Exposure, ...world: Parameters<typeof seen>) {
  const { want, status } = look(model, seen(...served, ...world), { exposure });
  const exposed = conditionOf(status, 'Exposed');
  const made = want.map(childIn).filter(({ metadata }) => metadata.name === 'iris-expose');
  return { exposed, made, url: status.externalURL, ready: conditionOf(status, 'Ready')?.status };
}

describe('what is made', () => {
  test('by a port, by a load balancer: a Service beside the one inside', () => {
    for (const by of ['NodePort', 'LoadBalancer'] as const) {
      const [service] = outside(ways[by]).made as Service[];
      deepEqual([service?.kind, service?.spec.type, service?.spec.ports?.[0]?.port], ['Service', by, 8080]);
    }
  });

  test('by an Ingress: a host of its own, to the Service inside, with a Secret for its certificate', () => {
    const [ingress] = outside(ways.Ingress).made as Ingress[];
    const backend = { service: { name: 'iris-service', port: { name: 'http' } } };
    const host = 'iris.shop.models.example.com';
    deepEqual(ingress?.spec, {
      ingressClassName: 'nginx',
      tls: [{ hosts: [host], secretName: 'iris-expose-tls' }],
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    });
    deepEqual(ingress?.metadata.annotations, annotations);
  });

  test('by a Gateway: a route of its host to the Service inside', () => {
    const [route] = outside(ways.Gateway).made as HTTPRoute[];
    deepEqual(route?.spec, {
      parentRefs: [gateway],
      hostnames: ['iris.shop.models.example.com'],
      rules: [{ backendRefs: [{ name: 'iris-service', port: 8080 }] }],
    });
  });

  test('last, apart from what makes the model ready', () => {
    const several = aModel({ expose: true, replicas: 2 });
    const world = seen(revision(several), claim(several, { digest: 'sha256:0' }), deployment(several));
    for (const exposure of Object.values(ways)) {
      const { want } = look(several, world, { exposure });
      deepEqual(
        want.flatMap((wish) => (wish.apart === undefined ? [] : [[wish.apart, childIn(wish).metadata.name]])),
        [['Exposed', 'iris-expose']],
      );
      equal(want.at(-1)?.apart, 'Exposed');
    }
  });

  test('nothing where nobody asks, in whatever way', () => {
    const inside = aModel();
    const world = seen(revision(inside), claim(inside, { digest: 'sha256:0' }), deployment(inside));
    for (const exposure of Object.values(ways)) {
      const { want, status } = look(inside, world, { exposure });
      equal(
        want.map(childIn).some(({ metadata }) => metadata.name === 'iris-expose'),
        false,
      );
      deepEqual([conditionOf(status, 'Exposed')?.reason, status.externalURL], ['NotAsked', undefined]);
    }
  });
});

const condition = (type: string, status: string, more: object = {}) => ({
  type,
  status,
  reason: type,
  message: '',
  observedGeneration: 2,
  ...more,
});
const parent = (...conditions: object[]) => ({ parents: [{ parentRef: gateway, conditions }] });
const byAddress = (...ingress: object[]) => ({ loadBalancer: { ingress } });

describe('what is said', () => {
  const rows: { name: string; by: keyof typeof ways; status?: object; is: string; says: RegExp; url?: string }[] = [
    { name: 'no address yet', by: 'LoadBalancer', is: 'Waiting', says: /address of Service iris-expose/ },
    {
      name: 'an address',
      by: 'LoadBalancer',
      status: byAddress({ ip: '203.0.113.7' }),
      is: 'LoadBalancer',
      says: /^The model answers at http:\/\/203\.0\.113\.7:8080$/,
      url: 'http://203.0.113.7:8080',
    },
    {
      name: 'an address of the longer kind',
      by: 'LoadBalancer',
      status: byAddress({ ip: '2001:db8::7' }),
      is: 'LoadBalancer',
      says: /answers/,
      url: 'http://[2001:db8::7]:8080',
    },
    {
      name: 'a name instead of an address',
      by: 'LoadBalancer',
      status: byAddress({ hostname: 'lb-7.cloud.example' }),
      is: 'LoadBalancer',
      says: /answers/,
      url: 'http://lb-7.cloud.example:8080',
    },
    { name: 'nobody took it up', by: 'Ingress', status: byAddress(), is: 'Waiting', says: /ingress controller/ },
    {
      name: 'taken up',
      by: 'Ingress',
      status: byAddress({ ip: '203.0.113.8' }),
      is: 'Ingress',
      says: /answers at https:\/\/iris\.shop\.models\.example\.com$/,
      url: 'https://iris.shop.models.example.com',
    },
    { name: 'no word of the gateway', by: 'Gateway', is: 'Waiting', says: /Waiting for Gateway edge\/shared/ },
    {
      name: 'accepted',
      by: 'Gateway',
      status: parent(condition('Accepted', 'True'), condition('ResolvedRefs', 'True')),
      is: 'Gateway',
      says: /answers at http:\/\/iris\.shop\.models\.example\.com$/,
      url: 'http://iris.shop.models.example.com',
    },
    {
      name: 'accepted by one of two controllers, of which the other says nothing',
      by: 'Gateway',
      status: {
        parents: [
          ...parent().parents,
          ...parent(condition('Accepted', 'True'), condition('ResolvedRefs', 'True')).parents,
        ],
      },
      is: 'Gateway',
      says: /answers at http:\/\/iris\.shop\.models\.example\.com$/,
      url: 'http://iris.shop.models.example.com',
    },
    {
      name: 'accepted by one of two controllers, of which the other refuses',
      by: 'Gateway',
      status: {
        parents: [
          ...parent(condition('Accepted', 'False')).parents,
          ...parent(condition('Accepted', 'True'), condition('ResolvedRefs', 'True')).parents,
        ],
      },
      is: 'Gateway',
      says: /answers/,
      url: 'http://iris.shop.models.example.com',
    },
    ...['True', 'Unknown'].map((status) => ({
      name: `accepted (${status}), and not known whether it leads anywhere`,
      by: 'Gateway' as const,
      status: parent(condition('Accepted', status), condition('ResolvedRefs', 'Unknown')),
      is: 'Waiting',
      says:
        status === 'True'
          ? /^Waiting for Gateway edge\/shared, which takes HTTPRoute iris-expose, to find what is behind it$/
          : /^Waiting for Gateway edge\/shared to take HTTPRoute iris-expose up$/,
    })),
    {
      name: 'accepted without a part of it',
      by: 'Gateway',
      status: parent(
        condition('Accepted', 'True'),
        condition('ResolvedRefs', 'True'),
        condition('PartiallyInvalid', 'True', { reason: 'UnsupportedValue', message: 'rule 1 is left out' }),
      ),
      is: 'UnsupportedValue',
      says: /^Gateway edge\/shared leaves out a part of the route: rule 1 is left out$/,
    },
    {
      name: 'accepted for what it was before',
      by: 'Gateway',
      status: parent(condition('Accepted', 'True', { observedGeneration: 1 })),
      is: 'Waiting',
      says: /Waiting/,
    },
    {
      name: 'a word of another gateway',
      by: 'Gateway',
      status: { parents: [{ parentRef: { ...gateway, name: 'other' }, conditions: [condition('Accepted', 'True')] }] },
      is: 'Waiting',
      says: /Waiting/,
    },
    {
      name: 'refused, in the words of the gateway',
      by: 'Gateway',
      status: parent(condition('Accepted', 'False', { reason: 'NotAllowedByListeners', message: 'not from shop' })),
      is: 'NotAllowedByListeners',
      says: /^Gateway edge\/shared does not take the route: not from shop$/,
    },
    {
      name: 'what is behind it is not found',
      by: 'Gateway',
      status: parent(condition('Accepted', 'True'), condition('ResolvedRefs', 'False', { reason: 'BackendNotFound' })),
      is: 'BackendNotFound',
      says: /does not find what is behind the route: no reason is given$/,
    },
  ];
  for (const { name, by, status, is, says, url } of rows)
    test(`${by}, ${name}: ${is}`, () => {
      const found = outside(ways[by], held(ways[by], status));
      deepEqual([found.exposed?.status, found.exposed?.reason], [is === by ? 'True' : 'False', is]);
      match(found.exposed?.message ?? '', says);
      equal(found.url, url);
      equal(found.ready, 'True', 'what is outside has no part in Ready');
    });

  test('what is not there is not made yet, and nobody is waited for', () => {
    for (const exposure of Object.values(ways)) {
      const { exposed } = outside(exposure);
      const { kind } = exposureOf(model, 8080, exposure);
      deepEqual([exposed?.reason, exposed?.message], ['Waiting', `${kind} iris-expose is not made yet`]);
    }
  });

  test('the address is that of what is there, not of what is asked', () => {
    const asked = { ...ways.Ingress, domain: 'elsewhere.example', tls: false };
    const now = held(ways.Ingress, byAddress({ ip: '203.0.113.8' }));
    equal(outside(asked, now).url, 'https://iris.shop.models.example.com');
    const route = held(ways.Gateway, parent(condition('Accepted', 'True'), condition('ResolvedRefs', 'True')));
    equal(outside({ ...ways.Gateway, domain: 'elsewhere.example' }, route).url, 'http://iris.shop.models.example.com');
  });

  test('a port outside answers only if something does', () => {
    const told = (replicas: number) => {
      const open = aModel({ expose: true, replicas });
      const service = held(ways.NodePort) as Service;
      const given = { ...service, spec: { ...service.spec, ports: [{ port: 8080, nodePort: 30_123 }] } };
      const { status } = look(open, seen(revision(open), claim(open, { digest: 'sha256:0' }), deployment(open), given));
      return [conditionOf(status, 'Exposed')?.message, status.externalURL];
    };
    deepEqual(told(1), ['The model answers on port 30123 of every node', undefined]);
    deepEqual(told(0), ['The model will answer, once a server does, on port 30123 of every node', undefined]);
  });

  test('why a cloud gives no address, in its own words', () => {
    const event: KubeEvent = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      type: 'Warning',
      reason: 'SyncLoadBalancerFailed',
      message: 'Error syncing load balancer: quota of addresses is used up',
      involvedObject: { apiVersion: 'v1', kind: 'Service', name: 'iris-expose', uid: 'uid-expose' },
    };
    const facts = { ...noFacts, exposeEvents: { state: 'known' as const, value: [event] } };
    const exposure = ways.LoadBalancer;
    const told = (status?: object) =>
      conditionOf(look(model, seen(...served, held(exposure, status)), { exposure, facts }).status, 'Exposed');
    equal(told()?.reason, 'LoadBalancerFailed');
    match(told()?.message ?? '', /^Service iris-expose gets no address: .*quota of addresses is used up$/);
    equal(told(byAddress({ ip: '203.0.113.7' }))?.status, 'True', 'what was wrong before it came is past');
  });
});

describe('one way after another', () => {
  test('what exposed it before is not wanted any more; under the same kind it is changed', () => {
    for (const before of Object.values(ways))
      for (const after of Object.values(ways)) {
        const { made } = outside(after, held(before));
        deepEqual(
          made.map(({ kind }) => kind),
          [exposureOf(model, 8080, after).kind],
          `${before.by} to ${after.by}`,
        );
      }
  });

  test('an address of the former way is no address of this one', () => {
    const balanced = held(ways.LoadBalancer, byAddress({ ip: '203.0.113.7' })) as Service;
    const changed = { ...balanced, spec: { ...balanced.spec, type: 'NodePort' } };
    equal(outside(ways.LoadBalancer, changed).exposed?.reason, 'Waiting');
    equal(outside(ways.NodePort, balanced).url, undefined);
  });
});

describe('where there is no Gateway API', () => {
  test('that is said, nothing is made, and the model is served', () => {
    const { exposed, made, ready } = outside(ways.Gateway, lacking(HTTPRoute));
    deepEqual([exposed?.reason, made, ready], ['GatewayAPIMissing', [], 'True']);
    match(exposed?.message ?? '', /does not serve httproutes\.gateway\.networking\.k8s\.io\/v1: install/);
  });

  test('what exposed the model before stays', () => {
    for (const by of ['NodePort', 'LoadBalancer', 'Ingress'] as const) {
      const before = held(ways[by]);
      deepEqual(outside(ways.Gateway, lacking(HTTPRoute), before).made, [before], by);
    }
  });

  test('every other way does not care', () => {
    for (const by of ['NodePort', 'LoadBalancer', 'Ingress'] as const)
      equal(outside(ways[by], lacking(HTTPRoute)).made.length, 1);
  });
});
