// What the measured programs ask of the API server, as the API server itself writes it down: one line a request, with what
// was sent where a status was written, so that a write that says nothing new can be told from one that does.

import { hashOf } from '../../src/base/index.ts';

/** The namespaces of the accounts that measured programs run with. */
export const homes = { baton: 'baton-system', peer: 'peer-system' } as const;

const measured = { userGroups: Object.values(homes).map((name) => `system:serviceaccounts:${name}`) };

/** A policy that writes down what the measured programs do, and nothing of anybody else. */
export const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    {
      ...measured,
      level: 'Request',
      resources: ['baton.dev', 'peer.dev'].map((group) => ({ group, resources: ['mlmodels/status'] })),
    },
    { ...measured, level: 'Metadata' },
    { level: 'None' },
  ],
};

/** The part of a line that is read. */
export interface Line {
  stage: string;
  verb: string;
  requestURI: string;
  stageTimestamp: string;
  objectRef?: { resource: string; subresource?: string; name?: string };
  requestObject?: unknown;
}

/** What was asked in a span of time. The lease of an election is told apart: it belongs to no model. */
export interface Asked {
  /** By verb and resource, as in `create jobs` or `patch mlmodels/status`. */
  requests: Record<string, number>;
  /** Whole views by resource, whether they came as a list or at the beginning of a watch. */
  views: Record<string, number>;
  /** Status writes that said the same as the one before. */
  duplicates: number;
  leases: number;
  /** When the last request came, in milliseconds since the epoch. */
  last: number;
}

/** Counts the lines of a log. Watches are counted when they begin, and are no requests: they last. */
export function countLines(lines: readonly Line[]): Asked {
  const asked: Asked = { requests: {}, views: {}, duplicates: 0, leases: 0, last: 0 };
  const told = new Map<string, string>();
  for (const line of lines.filter(isCounted)) {
    const { verb, objectRef } = line;
    if (objectRef?.resource === 'leases') {
      asked.leases++;
      continue;
    }
    asked.last = Math.max(asked.last, Date.parse(line.stageTimestamp));
    const what = whatOf(line);
    if (isWhole(line)) add(asked.views, what);
    if (verb !== 'watch') add(asked.requests, `${verb} ${what}`);
    if (objectRef?.subresource === 'status' && line.requestObject !== undefined && saysNothingNew(line, told))
      asked.duplicates++;
  }
  return asked;
}

const isCounted = ({ stage, verb }: Line): boolean =>
  stage === (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete');

const whatOf = ({ objectRef, requestURI }: Line): string => {
  if (!objectRef) return requestURI.replace(/\?.*/, '');
  return objectRef.subresource ? `${objectRef.resource}/${objectRef.subresource}` : objectRef.resource;
};

/** A view in pages is one view. */
const isWhole = ({ verb, requestURI }: Line): boolean =>
  verb === 'list'
    ? !requestURI.includes('continue=')
    : verb === 'watch' && requestURI.includes('sendInitialEvents=true');

const add = (counts: Record<string, number>, what: string): void => void (counts[what] = (counts[what] ?? 0) + 1);

function saysNothingNew({ objectRef, requestObject }: Line, told: Map<string, string>): boolean {
  const name = objectRef?.name ?? '';
  const said = hashOf(withoutTimes((requestObject as { status?: unknown }).status));
  const before = told.get(name);
  told.set(name, said);
  return before === said;
}

/** The moment of a transition is nothing new by itself. */
const withoutTimes = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (key, inner: unknown) => (key === 'lastTransitionTime' ? undefined : inner)),
  );

/** All requests of a count. */
export const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
