// The servers of a ModelDeployment on the contract of its seed: HTTP on one port, health on one path, which both probes
// ask after a delay of their own.

import { childName, mark, ModelDeployment, partLabels } from '../../api/index.ts';
import type { PodTemplate } from '../../objects/index.ts';
import { annotationsOf, type Named, serverPods } from '../../serving/index.ts';

/** All children of one kind of object have one name, because there is never a second. */
export const modelName = ({ metadata }: ModelDeployment): string => childName(metadata.name, 'model');

/** The labels by which the servers are found. */
export const serverLabels = ({ metadata }: ModelDeployment): Record<string, string> =>
  partLabels(ModelDeployment.kind, metadata.name, 'server');

/** Deployment and Service carry the annotations that are asked for. */
export const annotated = (object: ModelDeployment): Named => ({
  ...named(object),
  ...(object.spec.annotations && { annotations: object.spec.annotations }),
});

export const named = (object: ModelDeployment): Named => ({ name: modelName(object), labels: serverLabels(object) });

/** The pods that run an image. */
export function podsFor(object: ModelDeployment, revision: string, image: string): PodTemplate {
  const { port, healthPath, annotations, podAnnotations, ...spec } = object.spec;
  const health = { httpGet: { path: healthPath, port: 'http' }, timeoutSeconds: 5 };
  return serverPods(object, {
    image,
    env: { HOME: '/tmp' },
    port,
    healthPath,
    writable: ['/tmp'],
    probes: {
      readiness: delayed(spec.readinessProbeInitialDelay),
      liveness: { ...health, ...delayed(spec.livenessProbeInitialDelay) },
    },
    labels: { ...serverLabels(object), [mark.revision]: revision },
    annotations: annotationsOf({ podAnnotations: { ...annotations, ...podAnnotations } }),
  });
}

/** The server leaves out a delay of nothing. */
const delayed = (seconds: number) => (seconds === 0 ? {} : { initialDelaySeconds: seconds });
