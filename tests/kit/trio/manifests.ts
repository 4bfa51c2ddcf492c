// The children of a Trio, one pure builder each. Names are `<trio>-<part>`; owner, namespace and the engine's labels are
// added by the engine, except in pod templates, where a label is part of what the pods are.

import { hashOf } from '../../../src/base/index.ts';
import { ConfigMap, Deployment, Job, type KubeObject, label, type PodTemplate } from '../../../src/objects/index.ts';
import { Trio } from './schema.ts';

/** On the server: which wish it was built from. */
export const REVISION = 'test.baton.dev/revision';

/** The labels by which the pods of a Trio are found. */
export const podLabels = ({ metadata }: Trio): Record<string, string> => ({
  [label.kind]: Trio.kind,
  [label.name]: metadata.name,
});

const named = (trio: Trio, part: string): KubeObject['metadata'] => ({
  name: `${trio.metadata.name}-${part}`,
  ...(trio.spec.labels ? { labels: trio.spec.labels } : {}),
});

const byName = (a: string, b: string): number => (a < b ? -1 : 1);

/** What was found out elsewhere and belongs into the ConfigMap. */
export interface Findings {
  greeting?: string;
  answer?: string;
}

/** The ConfigMap: what the Trio says, and what it heard. */
export const config = (trio: Trio, findings: Findings = {}): ConfigMap => ({
  apiVersion: ConfigMap.apiVersion,
  kind: ConfigMap.kind,
  metadata: named(trio, 'config'),
  data: {
    text: trio.spec.text,
    env: JSON.stringify(trio.spec.env),
    mode: trio.spec.mode,
    ...(trio.spec.paths ? { paths: trio.spec.paths.toSorted(byName).join('\n') } : {}),
    ...findings,
  },
});

/** The Job that must succeed before the server starts. */
export const job = (trio: Trio): Job => ({
  apiVersion: Job.apiVersion,
  kind: Job.kind,
  metadata: named(trio, 'job'),
  spec: {
    backoffLimit: 0,
    template: template(trio, trio.spec.jobAnnotations, {
      restartPolicy: 'Never',
      containers: [{ name: 'job', image: trio.spec.image, args: [trio.spec.jobMessage] }],
    }),
  },
});

/** The servers. */
export function server(trio: Trio): Deployment {
  const spec = serverSpec(trio);
  const metadata = { ...named(trio, 'server'), annotations: { [REVISION]: hashOf(spec) } };
  return { apiVersion: Deployment.apiVersion, kind: Deployment.kind, metadata, spec };
}

const serverSpec = (trio: Trio): Deployment['spec'] => ({
  replicas: trio.spec.replicas,
  selector: { matchLabels: { ...podLabels(trio), 'test.baton.dev/part': 'server' } },
  template: template(trio, trio.spec.podAnnotations, {
    containers: [
      {
        name: 'server',
        image: trio.spec.image,
        ...(trio.spec.paths ? { args: trio.spec.paths.toSorted(byName) } : {}),
        env: trio.spec.env,
        resources: { requests: { memory: trio.spec.memory } },
        readinessProbe: { tcpSocket: { port: trio.spec.port } },
      },
    ],
  }),
});

const template = (
  trio: Trio,
  annotations: Record<string, string> | undefined,
  spec: PodTemplate['spec'],
): PodTemplate => ({
  metadata: {
    labels: { ...trio.spec.labels, ...podLabels(trio), 'test.baton.dev/part': spec.containers[0]?.name ?? '' },
    ...(annotations ? { annotations } : {}),
  },
  spec,
});
