// The stages of a simulated pod's life: for each step when it comes, what it writes, and what event tells of it.
// next.ts decides which step it is; pod-status.tpl writes the status.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { downloads, lastWord } from './downloads.ts';
import { type Delay, delayOf, nextIs, runFor, type Step } from './next.ts';

/** What has become of a container. */
type State =
  | 'creating'
  | 'waiting'
  | 'starting'
  | 'running'
  | 'unready'
  | 'ended'
  | 'killed'
  | 'restarted'
  | 'resumed'
  | 'back-off';

interface Writing {
  here: State;
  others: State;
  /** The reason of a waiting container. */
  waiting?: string;
  /** What is said where no annotation says it. */
  text?: string;
  /** The phase of a pod that is ended from outside. */
  finish?: 'Failed' | '';
}

interface Scene extends Writing {
  delay?: Delay;
  event?: { type: 'Normal' | 'Warning'; reason: string; message: string };
}

const warning = (reason: string, message: string) => ({ type: 'Warning', reason, message }) as const;
const noImage = 'failed to pull and unpack image "IMAGE": failed to resolve reference "IMAGE": IMAGE: not found';
const lowMemory = 'The node was low on resource: memory.';

const scenes: Record<Exclude<Step, 'delete'>, Scene> = {
  create: { here: 'creating', others: 'creating' },
  start: {
    here: 'starting',
    others: 'running',
    delay: delayOf('start-delay', 0),
    event: { type: 'Normal', reason: 'Started', message: 'Container started' },
  },
  ready: { here: 'running', others: 'running', delay: delayOf('ready-delay', 0) },
  unready: { here: 'unready', others: 'running', event: warning('Unhealthy', 'Readiness probe failed') },
  'pull-error': {
    here: 'waiting',
    others: 'running',
    waiting: 'ErrImagePull',
    text: noImage,
    delay: delayOf('start-delay', 0),
    event: warning('Failed', 'Error: ErrImagePull'),
  },
  'pull-backoff': {
    here: 'waiting',
    others: 'running',
    waiting: 'ImagePullBackOff',
    text: noImage,
    delay: { durationMilliseconds: 500 },
    event: warning('Failed', 'Error: ImagePullBackOff'),
  },
  'config-error': {
    here: 'waiting',
    others: 'running',
    waiting: 'CreateContainerConfigError',
    text: 'secret "missing" not found',
    delay: delayOf('start-delay', 0),
    event: warning('Failed', 'Error: CreateContainerConfigError'),
  },
  end: { here: 'ended', others: 'ended', delay: runFor },
  restart: { here: 'restarted', others: 'running', delay: runFor },
  'crash-backoff': {
    here: 'back-off',
    others: 'running',
    delay: runFor,
    event: warning('BackOff', 'Back-off restarting failed container'),
  },
  resume: { here: 'resumed', others: 'running', delay: delayOf('restart-delay', 10_000) },
  evict: {
    here: 'killed',
    others: 'killed',
    finish: 'Failed',
    text: lowMemory,
    delay: runFor,
    event: warning('Evicted', lowMemory),
  },
  stop: { here: 'killed', others: 'killed', finish: 'Failed' },
};

const template = readFileSync(join(import.meta.dirname, 'pod-status.tpl'), 'utf8');

/** Every stage of a pod. */
export const podStages = (): unknown[] => [
  ...Object.entries(scenes).map(([step, scene]) => stage(step as Step, steps(scene), scene.delay)),
  stage('delete', [{ delete: true }], delayOf('stop-delay', 0)),
];

const steps = ({ event, ...writing }: Scene): unknown[] => [
  ...(event ? [{ event }] : []),
  { patch: { subresource: 'status', root: 'status', template: statusTemplate(writing) } },
];

function statusTemplate({ here, others, waiting = '', text = '', finish = '' }: Writing): string {
  const { component: download } = downloads;
  const settings = Object.entries({ here, others, waiting, text, finish, download, lastWord });
  return settings.map(([name, value]) => `{{- $${name} := ${JSON.stringify(value)} -}}\n`).join('') + template;
}

const stage = (step: Step, actions: unknown[], delay?: Delay): unknown => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name: `pod-${step}` },
  spec: { resourceRef: { apiGroup: 'v1', kind: 'Pod' }, selector: nextIs(step), delay, steps: actions },
});
