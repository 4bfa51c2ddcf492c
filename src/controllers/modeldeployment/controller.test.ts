// What becomes of a ModelDeployment, given what the cache saw: looked up once, run by digest, scaled, and told.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { childIn } from '../../../tests/kit/cluster/engine.ts';
import { crashing, unschedulable } from '../../../tests/kit/mlmodel.ts';
import {
  aDeployment,
  answered,
  deployment,
  digest,
  look,
  noFacts,
  resolution,
  resolvePod,
  revision,
  serverPod,
} from '../../../tests/kit/modeldeployment.ts';
import { line, says, servers, wantedOf } from '../../../tests/kit/plans.ts';
import { complaintsAbout } from '../../../tests/kit/restricted.ts';
import { seen } from '../../../tests/kit/world.ts';
import { mark, type ModelDeployment, parts } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import {
  conditionOf,
  type Container,
  type ControllerRevision,
  type HorizontalPodAutoscaler,
  type PodDisruptionBudget,
  type Service,
} from '../../objects/index.ts';
import { gather } from './facts.ts';
import { revisionName } from './revision.ts';

const v1 = aDeployment();
const v2 = aDeployment({ image: 'registry.example/iris:2' }, { generation: 2 });
const found = answered({ digest });
const serving = '!Revision +Deployment +Service';
const ready = [revision(v1), deployment(v1), serverPod(v1)];
const shut = answered({ refused: 'SourceUnauthorized', message: 'the registry wants to know who asks' });
const withLogin = aDeployment({ imagePullSecrets: [{ name: 'login' }] });

const cases: {
  name: string;
  object?: ModelDeployment;
  world: Observed;
  facts?: typeof noFacts;
  plan: string;
  phase: string;
  reason: string;
}[] = [
  {
    name: 'nothing is made before the image is known',
    world: seen(),
    plan: '',
    phase: 'Processing',
    reason: 'Processing',
  },
  {
    name: 'what was found is run',
    world: seen(),
    facts: found,
    plan: serving,
    phase: 'Processing',
    reason: 'Processing',
  },
  {
    name: 'an image by its digest is run at once',
    object: aDeployment({ image: `registry.example/iris@${digest}` }),
    world: seen(),
    plan: serving,
    phase: 'Processing',
    reason: 'Processing',
  },
  { name: 'enough servers answer', world: seen(...ready), plan: serving, phase: 'Ready', reason: 'Serving' },
  {
    name: 'what serves goes on while another image is looked at',
    object: v2,
    world: seen(...ready),
    plan: '+Deployment +Service =Revision',
    phase: 'Processing',
    reason: 'Processing',
  },
  {
    name: 'another image rolls out, and the former revision stays for the way back',
    object: v2,
    world: seen(...ready),
    facts: found,
    plan: `${serving} =Revision`,
    phase: 'Processing',
    reason: 'Processing',
  },
  {
    name: 'an image that is not there is told at once',
    world: seen(),
    facts: answered({ refused: 'SourceNotFound', message: 'registry.example/iris:1 is not there' }),
    plan: '',
    phase: 'Failed',
    reason: 'SourceNotFound',
  },
  {
    name: 'a registry that wants to know who asks is asked by a Job, if there is a Secret',
    object: withLogin,
    world: seen(),
    facts: shut,
    plan: '!Job',
    phase: 'Processing',
    reason: 'Processing',
  },
  {
    name: 'and without one the way out is told',
    world: seen(),
    facts: shut,
    plan: '',
    phase: 'Failed',
    reason: 'SourceUnauthorized',
  },
  {
    name: 'what the Job found is run',
    object: withLogin,
    world: seen(
      resolution(withLogin, 'Complete'),
      resolvePod(withLogin, { result: 'done', digest, bytes: 1, mountable: false }),
    ),
    plan: serving,
    phase: 'Processing',
    reason: 'Processing',
  },
  {
    name: 'somebody removed the revision of servers that run: nobody is asked again',
    world: seen(deployment(v1), serverPod(v1)),
    plan: serving,
    phase: 'Ready',
    reason: 'Serving',
  },
  {
    name: 'servers of which no revision is known are left alone while their image is looked at',
    object: v2,
    world: seen(deployment(v1), serverPod(v1)),
    plan: '=Deployment',
    phase: 'Processing',
    reason: 'Processing',
  },
];

describe('a ModelDeployment', () => {
  for (const { name, object = v1, world, facts, plan, phase, reason } of cases)
    test(name, () => {
      const { want, status } = look(object, world, facts);
      equal(want.map(line).join(' '), plan);
      equal(status.phase, phase);
      equal(conditionOf(status, 'Ready')?.reason, reason);
    });

  test('is named, found and told where it answers', () => {
    const { want, status } = look(v1, seen(...ready));
    const names = want.map((one) => childIn(one).metadata.name.replace('iris-', ''));
    deepEqual(new Set(names.filter((part) => part !== revisionName(v1))), new Set(['model']));
    ok(parts.ModelDeployment.includes('model'));
    equal(status.lastRevisionName, revisionName(v1));
    equal(status.digest, digest);
    equal(status.deployment, 'iris-model');
    equal(status.availableReplicas, 1);
    equal(status.message, 'The model is served');
  });

  test('tells what answers while something else is on its way, and what went wrong', () => {
    const former = revisionName(v1);
    match(look(v2, seen(...ready)).status.message ?? '', new RegExp(`looked at; revision ${former} serves until then`));
    const missing = answered({ refused: 'SourceNotFound', message: 'it is not there' });
    const failed = look(v2, seen(...ready), missing);
    match(
      failed.status.message ?? '',
      new RegExp(`^it is not there; it is looked for again .*; revision ${former} serves$`),
    );
    deepEqual(
      [says(failed, 'Available'), says(failed, 'Stalled'), says(failed, 'Resolved')],
      ['True', 'True', 'False'],
    );
  });

  test('tells why servers do not answer', () => {
    const message = (status: NonNullable<Parameters<typeof serverPod>[1]>) =>
      look(v1, seen(revision(v1), deployment(v1, 0), serverPod(v1, status))).status.message ?? '';
    match(message(unschedulable), /Insufficient memory/);
    match(message(crashing), /bad magic number/);
  });

  test('another operator restarts nothing, and says so', () => {
    const stored = revision(v1);
    const data = stored.data as { template: { spec: { containers: Container[] } } };
    const other = structuredClone(data);
    Object.assign(other.template.spec.containers[0] ?? {}, { env: [] });
    const rendered: ControllerRevision = { ...stored, data: other };
    const decision = look(v1, seen(rendered, deployment(v1), serverPod(v1)));
    equal(says(decision, 'Outdated'), 'True');
    deepEqual(servers(decision)?.spec.template, other.template);
    equal(says(look(v1, seen(...ready)), 'Outdated'), 'False');
    const same = look(aDeployment({ nodeSelector: {}, env: [], podAnnotations: {} }), seen(...ready));
    deepEqual([same.status.phase, says(same, 'Outdated')], ['Ready', 'False'], 'what is empty asks for nothing');
  });
});

describe('its servers', () => {
  const only = (object: ModelDeployment) => {
    const made = servers(look(object, seen(), found));
    const [container] = made?.spec.template.spec.containers ?? [];
    ok(made && container);
    return { made, container, pod: made.spec.template };
  };

  test('keep the seed’s contract: its port, its health, its two delays', () => {
    const { container } = only(aDeployment({ livenessProbeInitialDelay: 7, readinessProbeInitialDelay: 0 }));
    deepEqual(container['ports'], [{ name: 'http', containerPort: 5000 }]);
    const health = { path: '/healthcheck', port: 'http' };
    const [live, well] = [container['livenessProbe'], container['readinessProbe']] as Record<string, unknown>[];
    deepEqual([live?.['httpGet'], well?.['httpGet']], [health, health]);
    deepEqual([live?.['initialDelaySeconds'], well?.['initialDelaySeconds']], [7, undefined]);
    const [service] = wantedOf<Service>(look(v1, seen(), found), 'Service');
    deepEqual(service?.spec.ports, [{ name: 'http', port: 5000, targetPort: 'http' }]);
  });

  test('run the digest, wherever the name lacks its registry', () => {
    equal(only(v1).container.image, `registry.example/iris@${digest}`);
    equal(only(aDeployment({ image: 'legion/iris:1.0' })).container.image, `docker.io/legion/iris@${digest}`);
    equal(only(aDeployment({ image: 'localhost:5000/iris' })).container.image, `localhost:5000/iris@${digest}`);
  });

  test('pass the restricted profile', () => deepEqual(complaintsAbout(only(v1).pod.spec), []));

  test('carry annotations as asked, on the pods their own before those for all', () => {
    const { made, pod } = only(aDeployment({ annotations: { a: '1', b: '1' }, podAnnotations: { b: '2' } }));
    deepEqual(pod.metadata?.annotations, { a: '1', b: '2' });
    equal(made.metadata.annotations?.['a'], '1');
    deepEqual(only(aDeployment({ annotations: {}, podAnnotations: {} })).pod, only(aDeployment()).pod);
    const [service] = wantedOf<Service>(look(aDeployment({ annotations: { a: '1' } }), seen(), found), 'Service');
    deepEqual(service?.metadata.annotations, { a: '1' });
  });
});

describe('how many', () => {
  const scaled = (spec: Partial<ModelDeployment['spec']>) => {
    const decision = look(aDeployment(spec), seen(), found);
    const [autoscaler] = wantedOf<HorizontalPodAutoscaler>(decision, 'HorizontalPodAutoscaler');
    const [budget] = wantedOf<PodDisruptionBudget>(decision, 'PodDisruptionBudget');
    return { replicas: servers(decision)?.spec.replicas, autoscaler, budget, decision };
  };

  test('a fixed number has no autoscaler, and several a budget', () => {
    const { replicas, autoscaler, budget } = scaled({ replicas: 3 });
    deepEqual([replicas, autoscaler, budget?.spec.maxUnavailable], [3, undefined, 1]);
    equal(budget?.spec['unhealthyPodEvictionPolicy'], 'AlwaysAllow', 'a server that is broken holds no drain');
    equal(scaled({}).budget, undefined);
  });

  test('an autoscaler writes the number where a person would, within its bounds', () => {
    const { replicas, autoscaler } = scaled({ minReplicas: 2, maxReplicas: 5 });
    equal(replicas, 2, 'at once, though replicas still says 1');
    const { scaleTargetRef, minReplicas, maxReplicas } = autoscaler?.spec ?? {};
    deepEqual(
      [minReplicas, maxReplicas, scaleTargetRef?.kind, scaleTargetRef?.name],
      [2, 5, 'ModelDeployment', 'iris'],
    );
    equal(scaled({ replicas: 4, minReplicas: 2, maxReplicas: 5 }).replicas, 4);
    equal(scaled({ replicas: 9, minReplicas: 2, maxReplicas: 5 }).replicas, 5);
  });

  test('none at all is asked by a person alone', () => {
    equal(scaled({ minReplicas: 0, maxReplicas: 2 }).autoscaler?.spec.minReplicas, 1);
    equal(scaled({ minReplicas: 0 }).autoscaler?.spec.maxReplicas, 1);
    equal(scaled({ replicas: 0, minReplicas: 1, maxReplicas: 2 }).replicas, 0);
    const idle = aDeployment({ replicas: 0 });
    const { status } = look(idle, seen(revision(idle), deployment(idle)));
    deepEqual([status.phase, conditionOf(status, 'Ready')?.reason], ['Ready', 'ScaledToZero']);
  });

  test('it aims at the CPU, or at requests at a time', () => {
    deepEqual(scaled({ maxReplicas: 2 }).autoscaler?.spec.metrics, [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
    ]);
    deepEqual(scaled({ maxReplicas: 2, target: { concurrency: 10 } }).autoscaler?.spec.metrics, [
      { type: 'Pods', pods: { metric: { name: 'concurrency' }, target: { type: 'AverageValue', averageValue: '10' } } },
    ]);
  });

  test('what keeps it from scaling is told in its own words, and is no part of Ready', () => {
    const object = aDeployment({ maxReplicas: 3 });
    const [made] = wantedOf<HorizontalPodAutoscaler>(look(object, seen(), found), 'HorizontalPodAutoscaler');
    ok(made);
    const told = (status: 'True' | 'False', reason: string) => {
      const conditions = [{ type: 'ScalingActive', status, reason, message: 'no metrics' }];
      const looking: HorizontalPodAutoscaler = { ...made, status: { conditions } };
      return look(object, seen(looking, revision(object), deployment(object)));
    };
    const without = told('False', 'FailedGetResourceMetric');
    match(conditionOf(without.status, 'Autoscaled')?.message ?? '', /no metrics.*metrics-server/);
    deepEqual([says(without, 'Autoscaled'), says(without, 'Ready')], ['False', 'True']);
    equal(says(told('True', 'ValidMetricFound'), 'Autoscaled'), 'True');
    equal(conditionOf(look(v1, seen(...ready)).status, 'Autoscaled')?.reason, 'NotAsked');
  });
});

describe('a look at the image', () => {
  const asked = (object: ModelDeployment, world: Observed) => gather.manifest.inputs(object, world)?.image;

  test('is taken once for a revision, and not for an image by digest', () => {
    equal(asked(v1, seen()), 'registry.example/iris:1');
    equal(asked(aDeployment({ image: 'iris' }), seen()), 'docker.io/iris');
    equal(asked(v1, seen(revision(v1))), undefined);
    equal(asked(v1, seen(deployment(v1))), undefined);
    equal(asked(aDeployment({ image: `iris@${digest}` }), seen()), undefined);
    equal(asked(withLogin, seen(resolution(withLogin))), undefined, 'while a Job looks');
  });

  test('is not taken again for a scale, nor for how updates happen, but for whatever runs', () => {
    const name = revisionName(v1);
    const same = [
      { replicas: 4 },
      { minReplicas: 1, maxReplicas: 3 },
      { target: { cpu: 3 } },
      { rollout: { ...v1.spec.rollout, history: 0 } },
    ];
    for (const spec of same) equal(revisionName(aDeployment(spec)), name, JSON.stringify(spec));
    const other = [
      { image: 'x' },
      { port: 1 },
      { healthPath: '/x' },
      { annotations: { a: 'b' } },
      { readinessProbeInitialDelay: 3 },
    ];
    for (const spec of other) notEqual(revisionName(aDeployment(spec)), name, JSON.stringify(spec));
    notEqual(revisionName(aDeployment({}, { annotations: { [mark.refresh]: '1' } })), name);
  });

  test('that fails for a while is told, and tried again by itself; one that lasts is a failure', () => {
    const failing = { ...noFacts, manifest: { state: 'failed', why: 'no route to host' } } as const;
    const { status } = look(v1, seen(), failing);
    deepEqual(
      [status.phase, status.message],
      [
        'Processing',
        'Image registry.example/iris:1 cannot be looked at: no route to host; where only nodes can reach it, name it by its digest, for which nobody is asked',
      ],
    );
    equal(look(v1, seen(), { ...failing, manifest: { ...failing.manifest, lasting: true } }).status.phase, 'Failed');
  });
});
