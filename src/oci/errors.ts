// What went wrong with a registry, as a value that code can judge by its reason and a person can read in one line. No
// credential gets into the text: only hosts, repositories and what the registry itself said about them.

/** What kind of trouble it is. `Network`, `Throttled` and `Server` may pass; for the others trying again is no help. */
export type Reason =
  | 'Unauthorized'
  | 'NotFound'
  | 'Digest'
  | 'TLS'
  | 'Network'
  | 'Throttled'
  | 'Server'
  | 'TooLarge'
  | 'Redirect'
  | 'Protocol'
  | 'Refused'
  | 'Aborted';

export interface RegistryErrorFields {
  reason: Reason;
  message: string;
  /** The status of the answer, 0 when there was none. */
  status?: number;
  /** The codes in the answer, such as MANIFEST_UNKNOWN. */
  codes?: readonly string[];
  /** Milliseconds that the registry asked to wait. */
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** A request to a registry that did not get what it asked for, or content that is not what it should be. */
export class RegistryError extends Error {
  readonly reason: Reason;
  readonly status: number;
  readonly codes: readonly string[];
  readonly retryAfter: number | undefined;

  constructor({ reason, message, status = 0, codes = [], retryAfter, cause }: RegistryErrorFields) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'RegistryError';
    this.reason = reason;
    this.status = status;
    this.codes = codes;
    this.retryAfter = retryAfter;
  }
}

const passing: ReadonlySet<Reason> = new Set(['Network', 'Throttled', 'Server']);

/** Whether the same request may succeed a little later. */
export const mayPass = (error: unknown): error is RegistryError =>
  error instanceof RegistryError && passing.has(error.reason);

/** The reason behind a status that is no success. */
export function reasonOf(status: number): Reason {
  if (status === 401 || status === 403) return 'Unauthorized';
  if (status === 404) return 'NotFound';
  if (status === 429) return 'Throttled';
  if (status === 408) return 'Network';
  return status >= 500 ? 'Server' : 'Refused';
}

/** What a registry said about its refusal: the codes and one readable line. */
export function saidIn(body: string): { codes: string[]; said: string } {
  const errors = errorsIn(body);
  const codes = errors.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  const said = errors.map(({ code, message }) => [code, message].filter(isText).join(': ')).join('; ');
  return { codes, said: oneLine(errors.length > 0 ? said : body) };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function errorsIn(body: string): { code?: unknown; message?: unknown }[] {
  if (!body.startsWith('{')) return [];
  try {
    const { errors } = JSON.parse(body) as { errors?: unknown };
    return Array.isArray(errors) ? errors.filter((one) => typeof one === 'object' && one !== null) : [];
  } catch {
    return [];
  }
}

const longest = 500;
const oneLine = (text: string): string =>
  text
    .slice(0, 2 * longest)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, longest);
