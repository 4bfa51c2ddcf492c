// The servers: how they start, stop and are reached, and what a person may change about them.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aModel, settings } from '../../../tests/kit/mlmodel.ts';
import type { MLModel } from '../../api/index.ts';
import type { Container, Service } from '../../objects/index.ts';
import { exposureOf } from './exposure.ts';
import { disruptionBudget, service } from './network.ts';
import { cut } from './revision.ts';
import { server, type Takeover } from './server.ts';

function containerOf(spec: Partial<MLModel['spec']> = {}): Container {
  const [container] = cut(aModel(spec), settings, 1).template.spec.containers;
  if (!container) throw new TypeError('a pod without a container');
  return container;
}

const probe = (name: string, spec: Partial<MLModel['spec']> = {}) =>
  containerOf(spec)[name] as { periodSeconds: number; failureThreshold: number; httpGet?: { path: string } };

describe('a server', () => {
  test('may take as long to start as the deadline for progress says', () => {
    for (const progressDeadlineSeconds of [30, 601, 86_400]) {
      const rollout = { ...aModel().spec.rollout, progressDeadlineSeconds };
      const { periodSeconds, failureThreshold } = probe('startupProbe', { rollout });
      const patience = periodSeconds * failureThreshold;
      equal(patience >= progressDeadlineSeconds && patience < progressDeadlineSeconds + periodSeconds, true);
    }
  });

  test('is asked every second while it starts, so that none waits which is up', () => {
    equal(probe('startupProbe').periodSeconds, 1);
  });

  test('is asked for readiness where the framework answers, or where a person says', () => {
    equal(probe('readinessProbe').httpGet?.path, '/v2/health/ready');
    equal(probe('readinessProbe', { server: { healthPath: '/up' } }).httpGet?.path, '/up');
  });

  // The API server keeps a second field of it under its former name, and brings the account back from there.
  test('runs with the account that a person names, and by name with the usual one when it is named no more', () => {
    const account = (spec: Partial<MLModel['spec']>) =>
      cut(aModel(spec), settings, 1).template.spec['serviceAccountName'];
    equal(account({ serviceAccountName: 'mine' }), 'mine');
    equal(account({}), 'default');
  });

  test('is pulled again by the image that it has, not by the one that it had first', () => {
    const policy = (image: string) => containerOf({ server: { image } })['imagePullPolicy'];
    for (const image of ['own', 'own:latest', 'host:5000/own', 'host:5000/team/own:latest'])
      equal(policy(image), 'Always');
    for (const image of [
      'own:1',
      'host:5000/own:1',
      `host/own@sha256:${'0'.repeat(64)}`,
      `own:latest@sha256:${'0'.repeat(64)}`,
    ])
      equal(policy(image), 'IfNotPresent');
  });

  test('goes on answering for a moment when it is told to go', () => {
    const { template } = cut(aModel(), settings, 1);
    deepEqual(containerOf()['lifecycle'], { preStop: { sleep: { seconds: 5 } } });
    equal(template.spec['terminationGracePeriodSeconds'], 35);
  });

  test('finds its weights where its arguments say, and cannot change them', () => {
    const { args, volumeMounts } = containerOf({ framework: 'tensorflow' });
    equal(args?.includes('--model_base_path=/models/model'), true);
    deepEqual((volumeMounts as object[])[0], { name: 'weights', mountPath: '/models/model', readOnly: true });
  });

  test('mounts the folder of somebody else’s volume that is asked for', () => {
    const mounts = (modelURL: string) => (containerOf({ modelURL })['volumeMounts'] as { subPath?: string }[])[0];
    equal(mounts('pvc://shelf/deep/er/')?.subPath, 'deep/er');
    equal(mounts('pvc://shelf')?.subPath, undefined);
  });

  test('is what a person says for a framework of their own', () => {
    const own = { image: 'mine:1', port: 9000, command: ['run'], args: ['{model}'], healthPath: '/' };
    const { image, command, args, ports } = containerOf({ framework: 'custom', server: own });
    deepEqual(
      [image, command, args, ports],
      ['mine:1', ['run'], ['/models/model'], [{ name: 'http', containerPort: 9000 }]],
    );
  });

  test('asks for what it is limited to, unless a person asks for less', () => {
    const resources = { limits: { memory: '8Gi', 'nvidia.com/gpu': '1' }, requests: { memory: '4Gi' } };
    deepEqual(containerOf({ resources })['resources'], {
      limits: { memory: '8Gi', 'nvidia.com/gpu': '1' },
      requests: { cpu: '100m', memory: '4Gi', 'nvidia.com/gpu': '1' },
    });
  });
});

describe('the Deployment', () => {
  const strategyOf = (takeover: Takeover) => {
    const model = aModel();
    const { strategy } = server(model, cut(model, settings, 1), { replicas: 1, takeover, served: [] }).spec;
    return (strategy as { rollingUpdate: object }).rollingUpdate;
  };

  test('takes over beside, one by one, or all at once', () => {
    deepEqual(strategyOf('surge'), { maxSurge: 1, maxUnavailable: 0 });
    deepEqual(strategyOf('oneByOne'), { maxSurge: 0, maxUnavailable: 1 });
    deepEqual(strategyOf('replace'), { maxSurge: 0, maxUnavailable: '100%' });
  });

  const exposed = (model: MLModel) => (exposureOf(model, 1, settings.exposure) as Service).spec.selector;

  test('selects its pods by labels that no edit changes, as both Services do', () => {
    const selectors = [aModel(), aModel({ podLabels: { a: 'b' }, framework: 'tensorflow', replicas: 9 })].map(
      (model) => {
        const { selector } = server(model, cut(model, settings, 1), {
          replicas: 1,
          takeover: 'surge',
          served: [],
        }).spec;
        return [selector.matchLabels, service(model, 1).spec.selector, exposed(model)];
      },
    );
    deepEqual(selectors[0], selectors[1]);
    deepEqual(selectors[0]?.[0], selectors[0]?.[1]);
  });
});

test('one of several servers may be taken away at a time, but all of them where they can only run together', () => {
  const allowed = (spec: Partial<MLModel['spec']>) => {
    const model = aModel({ replicas: 2, ...spec });
    return disruptionBudget(model, cut(model, settings, 1).template).spec.maxUnavailable;
  };
  equal(allowed({ accessMode: 'ReadWriteMany' }), 1);
  equal(allowed({ modelURL: 'pvc://shelf' }), 1);
  equal(allowed({ accessMode: 'ReadWriteOnce' }), '100%');
});
