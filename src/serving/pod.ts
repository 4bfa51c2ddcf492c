// What every pod of ours has in common: the restricted Pod Security profile and more, and the fields that people set.

import type { PodFields } from '../api/index.ts';
import type { Container, PodSpec } from '../objects/index.ts';

/** A numeric user that owns nothing on any node. */
const nobody = 65532;

/** Fields of the pod that hold for servers and programs alike. */
export function podBasics(spec: PodFields): Partial<PodSpec> {
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
    ...filled({ nodeSelector, tolerations, priorityClassName, runtimeClassName, imagePullSecrets }),
  };
}

/** A person's annotations on a pod, and ours, if there are any. */
export const annotationsOf = (
  { podAnnotations }: PodFields,
  own: Record<string, string> = {},
): Record<string, string> | undefined =>
  isEmpty({ ...podAnnotations, ...own }) ? undefined : { ...podAnnotations, ...own };

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

/** Only the members that ask for something, so that whatever asks for the same is the same. */
export const filled = <T extends object>(members: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && !isEmpty(value)),
  ) as Partial<T>;

/** An empty folder that may be written; what is a device elsewhere is memory here, too. */
export const scratch = (path: string, index: number) => ({
  name: `scratch-${index}`,
  emptyDir: path.startsWith('/dev/') ? { medium: 'Memory' } : {},
});

type Variables = NonNullable<PodFields['env']>;

/** What the server needs, unless a person says otherwise; then what they say. */
export function variablesOf(needed: Readonly<Record<string, string>>, asked: Variables = []) {
  const own = Object.entries(needed).filter(([name]) => !asked.some((one) => one.name === name));
  return [...own.map(([name, value]) => ({ name, value })), ...asked.map(variable)];
}

const variable = ({ name, value, secret }: Variables[number]) =>
  secret ? { name, valueFrom: { secretKeyRef: secret } } : { name, value: value ?? '' };

/** Fields that may keep the pod of a program from starting: a person who mends one of these wants it tried again. */
export const startingFields = (spec: PodFields): unknown[] =>
  (
    [
      'nodeSelector',
      'tolerations',
      'priorityClassName',
      'runtimeClassName',
      'imagePullSecrets',
      'podLabels',
      'podAnnotations',
    ] as const
  ).map((field) => (isEmpty(spec[field]) ? undefined : spec[field]));

/** An empty list or map, which asks for what a missing one does. */
export const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
