// The volume and the Job that fills it.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aModel, settings } from '../../../tests/kit/mlmodel.ts';
import { downloadSeconds, exitCode, type MLModel } from '../../api/index.ts';
import { label } from '../../objects/index.ts';
import { inspectJob } from './inspect.ts';
import { sourceOf } from './source.ts';
import { downloadJob, downloadName, weightsClaim } from './storage.ts';

function sourceFor(model: MLModel) {
  const source = sourceOf(model);
  if (source.from !== 'download') throw new TypeError('this model is not downloaded');
  return source;
}

const jobFor = (model: MLModel, attempt = 'a') => downloadJob(model, sourceFor(model), attempt, settings);

describe('a download', () => {
  test('ends for good with a verdict, and is not charged for what was done to its pods', () => {
    const { podFailurePolicy } = jobFor(aModel()).spec as unknown as {
      podFailurePolicy: { rules: { action: string; onExitCodes?: { values: number[]; containerName: string } }[] };
    };
    deepEqual(
      podFailurePolicy.rules.map(({ action, onExitCodes }) => [action, onExitCodes?.values]),
      [
        ['FailJob', [exitCode.verdict]],
        ['Ignore', undefined],
      ],
    );
    equal(jobFor(aModel()).spec.template.spec.restartPolicy, 'Never');
  });

  test('is never tidied away by a clock: its evidence is noted first', () => {
    equal('ttlSecondsAfterFinished' in jobFor(aModel()).spec, false);
  });

  test('gets what a person wrote as one argument, and a Secret only as files', () => {
    const model = aModel({ modelURL: 'https://models.example/$(HOME)--x$$', credentials: 'mine' });
    const [container] = jobFor(model).spec.template.spec.containers;
    equal(container?.args?.at(-1), 'https://models.example/$$(HOME)--x$$$$', 'a kubelet makes one dollar of two');
    equal(container?.args?.at(-2), '--');
    equal(container?.env, undefined);
    ok(JSON.stringify(jobFor(model).spec.template.spec['volumes']).includes('"secretName":"mine"'));
  });

  test('has a name for each attempt, and pods that a server’s Deployment does not take for its own', () => {
    const model = aModel();
    ok(downloadName(model, sourceFor(model), 'a') !== downloadName(model, sourceFor(model), 'b'));
    equal(jobFor(model).spec.template.metadata?.labels?.['app.kubernetes.io/component'], 'download');
  });

  test('may take longer than its program gives itself, and not for ever', () => {
    const { spec } = jobFor(aModel());
    ok((spec.activeDeadlineSeconds ?? 0) > downloadSeconds);
    ok(!spec.template.spec.containers[0]?.args?.some((one) => one.startsWith('--deadline')));
    equal(inspectJob(aModel(), settings).spec.activeDeadlineSeconds, spec.activeDeadlineSeconds);
  });

  test('is limited in memory, being a program of ours', () => {
    const [container] = jobFor(aModel()).spec.template.spec.containers;
    const { limits } = (container?.['resources'] ?? {}) as { limits?: { memory?: string } };
    ok(limits?.memory);
  });
});

describe('the claim', () => {
  const claimFor = (model: MLModel) =>
    weightsClaim(model, sourceFor(model), { size: '2Gi', storageClassName: model.spec.storageClassName });

  test('asks for a size, a way to be mounted, and a class only if one is named', () => {
    deepEqual(claimFor(aModel()).spec, { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } });
    const shared = claimFor(aModel({ accessMode: 'ReadWriteMany', storageClassName: 'fast' })).spec;
    deepEqual([shared.accessModes, shared.storageClassName], [['ReadWriteMany'], 'fast']);
  });

  test('is marked with its weights if it is to outlive the model', () => {
    equal(claimFor(aModel()).metadata.labels?.[label.retained], undefined);
    equal(claimFor(aModel({ retain: true })).metadata.labels?.[label.retained], sourceFor(aModel()).weights);
  });
});
