// What every pod of a model has in common: the restricted Pod Security profile and more, and the fields that people set.

import { labelValue, mark, type MLModel } from '../../api/index.ts';
import type { Container, PodSpec, PodTemplate } from '../../objects/index.ts';
import type { Source } from './source.ts';

/** A numeric user that owns nothing on any node. */
const nobody = 65532;

/** Fields of the pod that hold for servers and downloads alike, so that a volume lands where the server can run. */
export function podBasics({ spec }: MLModel): Partial<PodSpec> {
  const { nodeSelector, tolerations, priorityClassName, runtimeClassName, imagePullSecrets } = spec;
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: nobody,
      runAsGroup: nobody,
      fsGroup: nobody,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...defined({ nodeSelector, tolerations, priorityClassName, runtimeClassName, imagePullSecrets }),
  };
}

/** A person's annotations on a pod, and ours, if there are any. */
export const annotated = ({ spec }: MLModel, own: Record<string, string> = {}): PodTemplate['metadata'] =>
  Object.keys(own).length === 0
    ? defined({ annotations: spec.podAnnotations })
    : { annotations: { ...spec.podAnnotations, ...own } };

/** No way up and nothing to write on, but for named folders. */
export const containerBasics: Partial<Container> = {
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  terminationMessagePolicy: 'FallbackToLogsOnError',
};

/**
 * When an image is pulled again: as the API server would choose. It chooses only once, for the first image, and would keep
 * that for every later one.
 */
export function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  const [, tag] = /:([^:/]*)$/.exec(image) ?? [];
  return image.includes('@') || (tag !== undefined && tag !== 'latest') ? 'IfNotPresent' : 'Always';
}

/** Only the members that have a value. */
export const defined = <T extends object>(members: T): Partial<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;

/** Whether only one node at a time can mount the weights. */
export const isNodeBound = ({ spec }: MLModel, source: Source): source is Extract<Source, { from: 'download' }> =>
  source.from === 'download' && spec.accessMode === 'ReadWriteOnce';

/** Pods that share a volume which only one node can mount belong onto that node: elsewhere they would wait for ever. */
export function together(model: MLModel, source: Source): Partial<PodSpec> {
  if (!isNodeBound(model, source)) return {};
  const labelSelector = { matchLabels: { [mark.weights]: labelValue(source.claim) } };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector };
  return { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}

/** Whether pods were rendered to run on one node; a revision says so itself, whatever is asked by now. */
export const isHeldTogether = ({ spec }: PodTemplate): boolean => spec['affinity'] !== undefined;
