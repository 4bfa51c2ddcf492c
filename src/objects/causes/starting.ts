// Containers that have their image and still cannot be started: what they are told to use is missing, or their command is.

import { nameOf } from './cause.ts';
import { type ContainerJudge, containerIn, failedEnd } from './containers.ts';
import { adviceFor, sentence } from './words.ts';

/** What a kubelet says of something in a registry that it has pulled and cannot mount as a volume. */
const unmountable = /ImageVolumeMountFailed/;

const advice = [
  [unmountable, 'it is not packed as an image that nodes can mount'],
  [/couldn't find key|references non-existent/, 'add that key, or name another'],
  [/(secret|configmap)s? "[^"]*" not found/i, 'create it, or name another'],
  [/run as non-root|runAsNonRoot/, 'use an image with a numeric user that is not root'],
  [/executable file not found|no such file or directory/, 'check its command against the image'],
  [/permission denied/, 'its command is not executable for its user'],
] as const;

/** The kubelet could not put the container's settings together. */
export const misconfigured: ContainerJudge = (container, pod) => {
  const { reason, message = '' } = container.state?.waiting ?? {};
  if (reason !== 'CreateContainerConfigError') return undefined;
  const happened = `${containerIn(pod, container)} cannot be set up`;
  return {
    reason: 'ContainerConfigError',
    message: sentence(happened, message, adviceFor(message, advice)),
    object: nameOf(pod),
  };
};

const startFailures = new Set([
  'CreateContainerError',
  'RunContainerError',
  'PreCreateHookError',
  'PreStartHookError',
  'PostStartHookError',
]);

/** The runtime could not create or start it; afterwards it waits as if it had crashed. */
export const cannotRun: ContainerJudge = (container, pod) => {
  const { reason = '', message } = container.state?.waiting ?? {};
  const end = failedEnd(container, pod);
  const neverRan = end?.reason === 'StartError' || end?.reason === 'ContainerCannotRun';
  if (!startFailures.has(reason) && !neverRan) return undefined;
  const words = (neverRan ? end.message : message) ?? message ?? '';
  const told = sentence(`${containerIn(pod, container)} cannot be started`, words, adviceFor(words, advice));
  return {
    reason: unmountable.test(words) ? 'VolumeUnavailable' : 'ContainerCannotRun',
    message: told,
    object: nameOf(pod),
  };
};
