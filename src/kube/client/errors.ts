// What went wrong with one request, as a value that code can judge by status and reason and a person can read in one
// line: what was asked, what came back. Credentials never get into the text, whatever a server or a proxy echoes.

/** One complaint about one field, as the API server lists them. */
export interface Cause {
  field?: string;
  reason?: string;
  message?: string;
}

/** Why there was no answer; `status` is 0 then. */
export type NoAnswer = 'Network' | 'Deadline' | 'Aborted' | 'Closed' | 'Credentials' | 'BadAnswer';

export interface ApiErrorFields {
  status: number;
  reason: string;
  message: string;
  /** What the server itself said, without what was asked. */
  said?: string;
  verb: string;
  path: string;
  causes?: Cause[];
  retryAfter?: number;
  cause?: unknown;
}

/** A request that was refused, or that got no answer (`status` 0, the reason is one of `NoAnswer`). */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly said: string;
  readonly causes: Cause[];
  /** Milliseconds that the server asked to wait. */
  readonly retryAfter?: number;
  readonly verb: string;
  readonly path: string;

  constructor(fields: ApiErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = 'ApiError';
    this.status = fields.status;
    this.reason = fields.reason;
    this.said = fields.said || fields.message;
    this.causes = fields.causes ?? [];
    if (fields.retryAfter !== undefined) this.retryAfter = fields.retryAfter;
    this.verb = fields.verb;
    this.path = fields.path;
  }
}

/** What was asked, in the words of messages and metrics. */
export interface Question {
  readonly verb: string;
  /** The resource without names, for metrics. */
  readonly resource: string;
  readonly path: string;
  /** What stands behind the verb in a message: `Deployment shop/web`. */
  readonly target: string;
}

/** What came back, before anybody looked into it. */
export interface Answer {
  status: number;
  text: string;
  retryAfter?: string | undefined;
}

interface StatusBody {
  kind?: string;
  reason?: string;
  message?: string;
  details?: { causes?: Cause[]; retryAfterSeconds?: number };
}

/** The error for an answer that is not a success. `now` is wall time, for Retry-After given as a date. */
export function refusal(question: Question, answer: Answer, secret: string | undefined, now: number): ApiError {
  const body = statusIn(answer.text);
  const reason = body?.reason ?? reasonOf(answer.status);
  const said = oneLine(body?.message ?? answer.text, secret);
  const causes = (body?.details?.causes ?? []).map((cause) => ({
    ...cause,
    ...(cause.message === undefined ? {} : { message: without(cause.message, secret) }),
  }));
  const retryAfter = waitAsked(answer.retryAfter, now) ?? seconds(body?.details?.retryAfterSeconds);
  return new ApiError({
    status: answer.status,
    reason,
    message: `cannot ${question.verb} ${question.target}: ${answer.status} ${reason}${said && `: ${said}`}`,
    said,
    verb: question.verb,
    path: question.path,
    causes,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

/** The error for a request that got no answer. */
export function unanswered(question: Question, reason: NoAnswer, why: string, cause?: unknown): ApiError {
  const message = `cannot ${question.verb} ${question.target}: ${why}`;
  return new ApiError({ status: 0, reason, message, verb: question.verb, path: question.path, cause });
}

/** Milliseconds from a Retry-After header: seconds, or a date. */
export function waitAsked(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const seconds = (value: number | undefined): number | undefined => (value ? value * 1000 : undefined);

function statusIn(text: string): StatusBody | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const body = JSON.parse(text) as StatusBody;
    return body.kind === 'Status' ? body : undefined;
  } catch {
    return undefined;
  }
}

const reasons: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
const reasonOf = (status: number): string => reasons[status] ?? 'Unknown';

const longest = 2000;
const oneLine = (text: string, secret: string | undefined): string =>
  without(text.slice(0, longest * 2), secret)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, longest);

const without = (text: string, secret: string | undefined): string =>
  secret === undefined || secret === '' ? text : text.replaceAll(secret, '[secret]');
