// A Job that runs one of our programs to its end. The end is judged by exit codes: a verdict is final, a fault of the
// network is tried again, and what a node did to the pod counts for nothing.

import { downloadSeconds, exitCode, inspectArguments, mark, type PodFields, type SourceAccess } from '../api/index.ts';
import { Job, type PodSpec } from '../objects/index.ts';
import type { Named } from './parent.ts';
import { annotationsOf, containerBasics, defined, podBasics } from './pod.ts';

/** What the operator's configuration decides for programs. */
export interface ProgramSettings {
  /** Our own image: the programs that run in pods. */
  image: string;
  /** Ranges of addresses that neither we nor our programs reach, beside those that nobody does. */
  egressDeny: readonly string[];
  /** Registries that are spoken to without TLS. */
  plainRegistries: readonly string[];
}

/** What is run, and with what. */
export interface Task extends Pick<Named, 'name' | 'labels'> {
  /** The program, and its container. */
  component: 'download' | 'inspect';
  attempt: string;
  args: string[];
  memory: string;
  /** Seconds after its end until it is removed, whatever the end was. */
  removedAfter?: number;
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
export function programJob(spec: PodFields, task: Task, settings: ProgramSettings): Job {
  const { name, labels, component, attempt } = task;
  const said = annotationsOf(spec, task.annotations);
  return {
    apiVersion: Job.apiVersion,
    kind: Job.kind,
    metadata: { name, labels, annotations: { [mark.attempt]: attempt } },
    spec: {
      backoffLimit: 6,
      activeDeadlineSeconds: mostSeconds,
      ...defined({ ttlSecondsAfterFinished: task.removedAfter }),
      podReplacementPolicy: 'Failed',
      podFailurePolicy: {
        rules: [
          { action: 'FailJob', onExitCodes: { containerName: component, operator: 'In', values: [exitCode.verdict] } },
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        ],
      },
      template: {
        metadata: { labels: { ...spec.podLabels, ...labels }, ...(said && { annotations: said }) },
        spec: podSpec(spec, task, settings),
      },
    },
  };
}

function podSpec(spec: PodFields, { component, args, memory, mounts, pod }: Task, settings: ProgramSettings): PodSpec {
  const all = [...mounts, scratch];
  return {
    ...podBasics(spec),
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

/** Who asks for a source: by a Secret of its own, or as whoever pulls images. */
export interface Asker {
  credentials?: string;
  imagePullSecrets?: PodFields['imagePullSecrets'];
}

/** What a program is told about its source, and what is mounted for that. Pull secrets are for images alone. */
export function sourceAccess(
  { credentials, imagePullSecrets = [] }: Asker,
  source: 'image' | 'other',
  { egressDeny: deny, plainRegistries }: ProgramSettings,
): Access {
  const plainHttp = source === 'image' ? plainRegistries : [];
  const configs = source === 'image' ? imagePullSecrets : [];
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

/** One file for each Secret, by the key of its type. What is missing is not waited for: a kubelet does not either. */
const fileOf = ({ name }: { name: string }, index: number) => ({
  secret: {
    name,
    items: [
      { key: '.dockerconfigjson', path: `${index}.json` },
      { key: '.dockercfg', path: `${index}.dockercfg` },
    ],
    optional: true,
  },
});

/** What is looked at, and under which name. */
export interface Inspection extends Named {
  image: string;
  attempt: string;
  /** Weights are looked at as a whole; of what nodes run, the digest is enough. */
  only?: 'digest';
}

/** Seconds for which a refusal that a Job was given stands: then the Job is gone, and the look begins anew. */
const refusedFor = 300;

/** The Job that looks at an image with the Secrets that a parent names. What it found stands in the last word of its pod. */
export function imageJob(
  spec: PodFields & Asker,
  { image, only, ...inspection }: Inspection,
  settings: ProgramSettings,
): Job {
  const { access, mounts } = sourceAccess(spec, 'image', settings);
  const args = inspectArguments({ url: `oci://${image}`, access, ...defined({ only }) });
  const task = {
    ...inspection,
    component: 'inspect',
    args,
    memory: '256Mi',
    mounts,
    removedAfter: refusedFor,
  } as const;
  return programJob(spec, task, settings);
}
