// The door of the folder: small things that know nothing about Kubernetes.

export { type Backoff, delayAfter } from './backoff.ts';
export { type Clock, sleep, systemClock } from './clock.ts';
export {
  connector,
  dial,
  type Destination,
  type DialOptions,
  EgressDenied,
  type Resolve,
  systemResolve,
} from './dial.ts';
export { deniedBecause, type EgressRules, egressRules, type EgressSettings } from './egress.ts';
export { asError, wordsOf } from './errors.ts';
export { canonical, hashOf } from './hash.ts';
export { type Following, Hasher } from './hasher.ts';
export { type Fields, type Level, type Log, type LogOptions, makeLog, silent } from './log.ts';
export { Counter, Gauge, Histogram, type Labels, type Look, Metrics, metricsType } from './metrics.ts';
export { isTlsFault, NoCertificate, trusting } from './trust.ts';
