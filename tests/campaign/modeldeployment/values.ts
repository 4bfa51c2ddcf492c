// Documents from which walks begin, and what people write into the fields of a ModelDeployment. No registry is needed: images
// have their digests, and those that have none are where nobody answers.

import type { ModelDeployment } from '../../../src/api/index.ts';
import type { Document, Meanings } from '../meaning.ts';
import { podExamples, podMeans, podValues } from '../podfields.ts';
import type { Json } from '../property.ts';

const pinned = (name: string, letter: string) => `registry.example/models/${name}@sha256:${letter.repeat(64)}`;
const rollout = { history: 0, progressDeadlineSeconds: 60 };
const plain = { image: pinned('one', 'a'), rollout };

export const bases: Document[] = [
  { spec: plain },
  { spec: { ...plain, replicas: 2, port: 8080, healthPath: '/ready', annotations: { note: 'x' } } },
  { spec: { ...plain, minReplicas: 2, maxReplicas: 3, env: [{ name: 'A', value: '1' }] } },
  { spec: { ...plain, rollout: { ...rollout, strategy: 'replace' }, readinessProbeInitialDelay: 0 } },
];

export const means: Meanings['means'] = {
  'spec.replicas': 'replicas',
  'spec.port': 'port',
  'spec.healthPath': 'path',
  'spec.annotations{}': 'text',
  ...podMeans,
};

export const values: Meanings['values'] = {
  'spec.image': [
    pinned('one', 'b'),
    pinned('two', 'c'),
    pinned('two', 'c').replace('@', ':tagged@'),
    `docker-hub-like/name@sha256:${'d'.repeat(64)}`,
    'registry.invalid/models/one:1',
    '127.0.0.1:9/models/one',
    'Not An Image',
    ' ',
  ],
  'spec.minReplicas': [0, 1, 2, 3],
  'spec.maxReplicas': [1, 2, 5],
  'spec.target': [{ cpu: 50 }, { concurrency: 10 }, {}],
  'spec.annotations': [{ team: 'red' }, { 'no blanks': 'x' }, { 'example.com/note': 'n'.repeat(16_000) }],
  'spec.rollout': [{}, { strategy: 'surge' }],
  ...podValues,
  'spec.podAnnotations': [
    { note: 'n'.repeat(16_000) },
    { 'sim.baton.dev/container': 'server', 'sim.baton.dev/fault': 'crash' },
    { 'sim.baton.dev/container': 'server', 'sim.baton.dev/fault': 'image-pull-error' },
  ],
};

export const examples: Meanings['examples'] = {
  'spec.annotations': [{ team: 'red' }],
  'spec.target': [{ cpu: 50 }],
  ...podExamples,
  'spec.podAnnotations': [{ note: 'x' }],
};

type Spec = Partial<ModelDeployment['spec']>;

/** What is for an autoscaler needs one. */
export const scaled = (spec: Json): Json => ({ maxReplicas: 5, ...(spec as Spec) });

/** One aim has no other. */
export const aimedAt =
  (aim: 'cpu' | 'concurrency') =>
  (spec: Json): Json => {
    const { target = {}, ...rest } = spec as Spec;
    return scaled({ ...rest, target: aim in target ? { [aim]: target[aim] } : { concurrency: 10 } });
  };

/** A delay is taken where there is time for it. */
export const patient = (spec: Json): Json => ({
  ...(spec as Spec),
  rollout: { ...(spec as Spec).rollout, progressDeadlineSeconds: 3_601 },
});
