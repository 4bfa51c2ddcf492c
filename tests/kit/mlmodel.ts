// A model and its children at every point of their lives, for tests of the pure controller. Builders hide what does not
// matter; children come from the controller's own builders, so that names and labels are right by construction.

import { mark, MLModel, sayLastWord, type LastWord } from '../../src/api/index.ts';
import {
  attemptOf,
  cut,
  downloadJob,
  type Found,
  frameworks,
  inspectJob,
  type MLModelSettings,
  revisionObject,
  server,
  serverLabels,
  sourceOf,
  weightsClaim,
} from '../../src/controllers/mlmodel/index.ts';
import type {
  ControllerRevision,
  Deployment,
  Job,
  KubeObject,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../src/objects/index.ts';

export const settings: MLModelSettings = {
  image: 'baton:1',
  frameworks: frameworks('baton:1'),
  exposure: { by: 'NodePort', annotations: {} },
  imageVolumes: 'auto',
  egressDeny: [],
  plainRegistries: [],
};

/** A model as the API server would hand it out, with every default. */
export function aModel(spec: Partial<MLModel['spec']> = {}, metadata: Partial<MLModel['metadata']> = {}): MLModel {
  return {
    apiVersion: MLModel.apiVersion,
    kind: MLModel.kind,
    metadata: { name: 'iris', namespace: 'shop', uid: 'uid-iris', generation: 1, ...metadata },
    spec: {
      modelURL: 'https://models.example/iris-1.onnx',
      storageSize: '1Gi',
      framework: 'onnx',
      replicas: 1,
      expose: false,
      accessMode: 'ReadWriteOnce',
      retain: false,
      rollout: { strategy: 'auto', progressDeadlineSeconds: 600, history: 1 },
      ...spec,
    },
  };
}

const born = '2026-01-01T00:00:00Z';

/** The stored revision of a model; one whose weights are an image was found before. */
export const revision = (model: MLModel, number = 1, found?: Found): ControllerRevision =>
  revisionObject(model, cut(model, settings, number, sourceOf(model, found)));

const download = (model: MLModel, found?: Found) => {
  const source = sourceOf(model, found);
  if (source.from !== 'download') throw new TypeError('this model is not downloaded');
  return source;
};

/** The same object on its way out. */
export const leaving = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: born },
});

/** The claim of a model's weights; with a digest they are there. */
export function claim(
  model: MLModel,
  { digest, phase = 'Bound', found }: { digest?: string; phase?: 'Bound' | 'Lost' | 'Pending'; found?: Found } = {},
): PersistentVolumeClaim {
  const object = weightsClaim(model, download(model, found), {
    size: model.spec.storageSize ?? '1Gi',
    storageClassName: model.spec.storageClassName,
  });
  const annotations = digest === undefined ? {} : { [mark.digest]: digest };
  return { ...object, metadata: { ...object.metadata, annotations, creationTimestamp: born }, status: { phase } };
}

export type Result = 'running' | 'Complete' | 'Failed';

/** The download of a model's weights. */
export const job = (model: MLModel, result: Result = 'running'): Job =>
  ended(downloadJob(model, download(model), attemptOf(model), settings), result);

/** The Job that looks at the image of a model's weights. */
export const inspection = (model: MLModel, result: Result = 'running'): Job =>
  ended(inspectJob(model, settings), result);

/** A Job as far as it has come. */
export function ended(object: Job, result: Result): Job {
  const conditions =
    result === 'running' ? [] : [{ type: result, status: 'True' as const, reason: result, message: '' }];
  return {
    ...object,
    metadata: { ...object.metadata, uid: `uid-${object.metadata.name}`, creationTimestamp: born },
    status: { conditions, failed: result === 'Failed' ? 1 : 0 },
  };
}

/** The pod of a download, running or ended with its last word. */
export const downloadPod = (model: MLModel, word?: LastWord): Pod => programPod(job(model), word);

/** The pod of the Job that looks at an image. */
export const inspectPod = (model: MLModel, word?: LastWord): Pod => programPod(inspection(model), word);

/** The pod of a Job, running or ended with its last word. */
export function programPod(owner: Job, word?: LastWord): Pod {
  const terminated = word && { exitCode: word.result === 'done' ? 0 : 42, message: sayLastWord(word) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${owner.metadata.name}-x`,
      namespace: 'shop',
      creationTimestamp: born,
      annotations: { ...owner.spec.template.metadata?.annotations },
      labels: {
        ...owner.spec.template.metadata?.labels,
        'batch.kubernetes.io/job-name': owner.metadata.name,
        'batch.kubernetes.io/controller-uid': owner.metadata.uid ?? '',
      },
    },
    spec: owner.spec.template.spec,
    status: {
      phase: word ? (word.result === 'done' ? 'Succeeded' : 'Failed') : 'Running',
      containerStatuses: [
        {
          name: owner.spec.template.spec.containers[0]?.name ?? '',
          ready: false,
          restartCount: 0,
          state: terminated ? { terminated } : { running: {} },
        },
      ],
    },
  };
}

/** The Deployment of a model's revision with so many servers available. */
export function deployment(model: MLModel, available = model.spec.replicas, found?: Found): Deployment {
  const { replicas } = model.spec;
  const made = cut(model, settings, 1, sourceOf(model, found));
  const object = server(model, made, { replicas, takeover: 'surge', served: [] });
  return {
    ...object,
    metadata: { ...object.metadata, generation: 1 },
    status: {
      observedGeneration: 1,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: available,
      availableReplicas: available,
    },
  };
}

/** One server of a model's revision. */
export function serverPod(model: MLModel, status: Pod['status'] = readyStatus, found?: Found): Pod {
  const { template } = cut(model, settings, 1, sourceOf(model, found));
  const name = `iris-server-${template.metadata?.labels?.[mark.revision]}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels: { ...serverLabels(model), ...template.metadata?.labels } },
    spec: template.spec,
    status,
  };
}

/** A server that answers. */
export const readyStatus: NonNullable<Pod['status']> = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [{ name: 'server', ready: true, restartCount: 0, state: { running: {} } }],
};

/** A server that no node has room for. */
export const unschedulable: NonNullable<Pod['status']> = {
  phase: 'Pending',
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/1 nodes are available: 1 Insufficient memory.',
    },
  ],
};

/** A server that runs and crashes. */
export const crashing: NonNullable<Pod['status']> = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: born }],
  containerStatuses: [
    {
      name: 'server',
      ready: false,
      restartCount: 3,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 7, message: 'bad magic number' } },
    },
  ],
};

/** A storage class as an installation may have it. */
export const storageClass = (name: string, rest: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'example.com/disk',
  volumeBindingMode: 'Immediate',
  ...rest,
});
