// Containers that ran and ended badly: out of memory, on a CPU they were not built for, or by a fault of their own.

import { type ContainerEnd, type ContainerStatus, type Pod } from '../pod.ts';
import { type Cause, type CauseReason, nameOf } from './cause.ts';
import { type ContainerJudge, containerIn, failedEnd, nodeOf, restarts } from './containers.ts';
import { lastLinesOf, lastOf, sentence } from './words.ts';

/** Killed by the kernel for its memory. */
export const outOfMemory: ContainerJudge = (container, pod) => {
  const end = failedEnd(container, pod);
  if (end?.reason !== 'OOMKilled') return undefined;
  const limit = memoryLimit(container, pod);
  const [words, advice] =
    limit === undefined
      ? [`${nodeOf(pod)} ran out of memory`, 'set resources.requests.memory and resources.limits.memory']
      : [`it needs more than its limit of ${limit}`, 'raise resources.limits.memory'];
  const happened = `${containerIn(pod, container)} was killed for lack of memory, ${exitOf(end)}`;
  return cause('OutOfMemory', sentence(happened, words, advice), pod);
};

function memoryLimit({ name }: ContainerStatus, { spec }: Pod): string | undefined {
  const asked = [...spec.containers, ...(spec.initContainers ?? [])].find((container) => container.name === name);
  const resources = asked?.['resources'] as { limits?: { memory?: string | number } } | undefined;
  return resources?.limits?.memory === undefined ? undefined : String(resources.limits.memory);
}

/** Built for a CPU with more features, or for another architecture. */
export const unsupportedCPU: ContainerJudge = (container, pod) => {
  const end = failedEnd(container, pod);
  if (!end) return undefined;
  const lines = lastLinesOf(end.message) ?? '';
  const about = containerIn(pod, container);
  if (/exec format error/.test(lines)) {
    const advice = `it is built for another architecture than that of ${nodeOf(pod)}: choose nodes by nodeSelector, or another image`;
    return cause('UnsupportedCPU', sentence(`${about} cannot run`, lastOf(lines), advice), pod);
  }
  if (end.exitCode !== 132 && end.signal !== 4 && !/illegal (hardware )?instruction/i.test(lines)) return undefined;
  const words = lastOf(lines) || 'Illegal instruction';
  const advice = `it needs CPU features that ${nodeOf(pod)} lacks, often AVX: choose nodes by nodeSelector, or another image`;
  const message = sentence(`${about} met an instruction that its CPU does not know, ${exitOf(end)}`, words, advice);
  return cause('UnsupportedCPU', message, pod);
};

/** Ended by itself, with its exit code and last line. */
export const crashed: ContainerJudge = (container, pod) => {
  const end = failedEnd(container, pod);
  if (!end) return undefined;
  const again = restarts(pod);
  const verb = again ? (end.exitCode === 0 ? 'keeps ending' : 'keeps crashing') : 'failed';
  const happened = `${containerIn(pod, container)} ${verb} with ${exitOf(end)}`;
  const message = sentence(happened, lastOf(lastLinesOf(end.message)), crashAdvice(end, container, pod));
  return cause(again ? 'CrashLooping' : 'ContainerFailed', message, pod);
};

function crashAdvice(end: ContainerEnd, { name }: ContainerStatus, pod: Pod): string | undefined {
  if (end.exitCode === 0) return 'it ended although it should go on running';
  if (lastLinesOf(end.message) === undefined) {
    const previous = restarts(pod) ? ' --previous' : '';
    return `kubectl logs ${pod.metadata.name} -c ${name}${previous} may tell more`;
  }
  return end.exitCode === 137
    ? 'killed from outside: look at its liveness probe and the memory of its node'
    : undefined;
}

const signals = new Map([
  [129, 'SIGHUP'],
  [130, 'SIGINT'],
  [132, 'SIGILL'],
  [134, 'SIGABRT'],
  [135, 'SIGBUS'],
  [136, 'SIGFPE'],
  [137, 'SIGKILL'],
  [139, 'SIGSEGV'],
  [143, 'SIGTERM'],
]);

function exitOf({ exitCode }: ContainerEnd): string {
  const signal = signals.get(exitCode);
  return `exit code ${exitCode}${signal === undefined ? '' : ` ${signal}`}`;
}

const cause = (reason: CauseReason, message: string, pod: Pod): Cause => ({
  reason,
  message,
  object: nameOf(pod),
});
