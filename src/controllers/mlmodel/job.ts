// A Job that runs one of our programs to its end. The end is judged by exit codes: a verdict is final, a fault of the
// network is tried again, and what a node did to the pod counts for nothing.

import { downloadSeconds, exitCode, mark, MLModel, partLabels, type SourceAccess } from '../../api/index.ts';
import { Job, type PodSpec } from '../../objects/index.ts';
import { annotated, containerBasics, defined, podBasics } from './pod.ts';
import type { MLModelSettings } from './settings.ts';
import { isImage } from './source.ts';

/** What is run, and with what. */
export interface Program {
  /** Of the Job. */
  name: string;
  /** The program, its container and its part in labels. */
  component: 'download' | 'inspect';
  attempt: string;
  args: string[];
  memory: string;
  /** Further labels of Job and pod. */
  labels?: Record<string, string>;
  /** Further annotations of the pod. */
  annotations?: Record<string, string>;
  /** Further fields of the pod. */
  pod?: Partial<PodSpec>;
  mounts: readonly Mount[];
}

/** A volume, and where the program finds it. */
export interface Mount {
  volume: { name: string; [source: string]: unknown };
  path: string;
  readOnly?: true;
}

const scratch: Mount = { volume: { name: 'scratch', emptyDir: { sizeLimit: '64Mi' } }, path: '/tmp' };

/**
 * Seconds for all attempts together, more than a program ever gives itself: this ends only what hangs. Its clock also runs
 * while a pod waits for a node, a volume or a Secret, which may come after hours, so the short look has as much.
 */
const mostSeconds = downloadSeconds + 3_600;

/** The Job of a program. */
export function programJob(model: MLModel, program: Program, settings: MLModelSettings): Job {
  const { name, component, attempt } = program;
  const labels = { ...partLabels(MLModel.kind, model.metadata.name, component), ...program.labels };
  return {
    apiVersion: Job.apiVersion,
    kind: Job.kind,
    metadata: { name, labels, annotations: { [mark.attempt]: attempt } },
    spec: {
      backoffLimit: 6,
      activeDeadlineSeconds: mostSeconds,
      podReplacementPolicy: 'Failed',
      podFailurePolicy: {
        rules: [
          { action: 'FailJob', onExitCodes: { containerName: component, operator: 'In', values: [exitCode.verdict] } },
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        ],
      },
      template: {
        metadata: { labels: { ...model.spec.podLabels, ...labels }, ...annotated(model, program.annotations) },
        spec: podSpec(model, program, settings),
      },
    },
  };
}

function podSpec(
  model: MLModel,
  { component, args, memory, mounts, pod }: Program,
  settings: MLModelSettings,
): PodSpec {
  const all = [...mounts, scratch];
  return {
    ...podBasics(model),
    ...pod,
    restartPolicy: 'Never',
    containers: [
      {
        ...containerBasics,
        name: component,
        image: settings.image,
        args: args.map(verbatim),
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory } },
        volumeMounts: all.map(({ volume, path, readOnly }) => ({
          name: volume.name,
          mountPath: path,
          ...defined({ readOnly }),
        })),
      },
    ],
    volumes: all.map(({ volume }) => volume),
  };
}

/** A kubelet would put the values of variables where `$(NAME)` stands, and takes `$$` for a `$`: what people wrote is data. */
const verbatim = (argument: string): string => argument.replaceAll('$', '$$$$');

/** What a program is told about its source, and what is mounted for that. Pull secrets are for images alone. */
export function sourceAccess(model: MLModel, settings: MLModelSettings): Access {
  const { egressDeny: deny, plainRegistries } = settings;
  const plainHttp = isImage(model) ? plainRegistries : [];
  const { credentials, imagePullSecrets = [] } = model.spec;
  const configs = isImage(model) ? imagePullSecrets : [];
  return {
    access: {
      ...(credentials !== undefined && { credentials: folders.credentials }),
      ...(configs.length > 0 && { pullSecrets: folders.pullSecrets }),
      ...(deny.length > 0 && { deny }),
      ...(plainHttp.length > 0 && { plainHttp }),
    },
    mounts: [
      ...(credentials === undefined ? [] : [mountOf('credentials', { secret: { secretName: credentials } })]),
      ...(configs.length === 0 ? [] : [mountOf('pullSecrets', { projected: { sources: configs.map(fileOf) } })]),
    ],
  };
}

export interface Access {
  access: SourceAccess;
  mounts: Mount[];
}

const folders = { credentials: '/credentials', pullSecrets: '/pull-secrets' } as const;

const mountOf = (folder: keyof typeof folders, source: object): Mount => {
  const path = folders[folder];
  return { volume: { name: path.slice(1), ...source }, path, readOnly: true };
};

/** One file for each Secret. One that is missing is not waited for: a kubelet does not either. */
const fileOf = ({ name }: { name: string }, index: number) => ({
  secret: { name, items: [{ key: '.dockerconfigjson', path: `${index}.json` }], optional: true },
});
