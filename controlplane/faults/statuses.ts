// The answers by which an API server refuses, as it words them: a Status object with reason, code and details, so that
// a client under test cannot tell an injected refusal from a real one.

import type { Target } from './classify.ts';

/** The code that goes with each reason. */
export const codes = {
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  Conflict: 409,
  AlreadyExists: 409,
  Gone: 410,
  Expired: 410,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  BadGateway: 502,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

/** A reason for which the proxy can refuse. */
export type Refusal = keyof typeof codes;

const texts: Record<Refusal, (what: string) => string> = {
  Unauthorized: () => 'Unauthorized',
  Forbidden: (what) => `${what} is forbidden: injected fault`,
  NotFound: (what) => `${what} not found`,
  Conflict: (what) =>
    `Operation cannot be fulfilled on ${what}: the object has been modified; please apply your changes to the latest version and try again`,
  AlreadyExists: (what) => `${what} already exists`,
  Gone: () => 'The requested resource is gone',
  Expired: () => 'The resourceVersion for the provided watch is too old.',
  Invalid: (what) => `${what} is invalid: injected fault`,
  TooManyRequests: () => 'Too many requests, please try again later.',
  InternalError: () => 'Internal error occurred: injected fault',
  BadGateway: () => 'the server answered through a broken gateway',
  ServiceUnavailable: () => 'the server is currently unable to handle the request',
  Timeout: () => 'request did not complete within the allotted timeout',
};

export interface Refused {
  reason: Refusal;
  message?: string;
  /** Seconds. */
  retryAfter?: number;
}

/** The Status object of a refusal of this request. */
export function statusBody({ reason, message, retryAfter }: Refused, target: Target) {
  const { group, resource, name } = target;
  const what = `${group === '' ? resource : `${resource}.${group}`} "${name}"`;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: message ?? texts[reason](what),
    reason,
    details: { name, group, kind: resource, ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }) },
    code: codes[reason],
  };
}
