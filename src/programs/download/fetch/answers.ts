// What an answer to a request for bytes means: pure, from status and headers.

import { Changed, Fault, Refused } from '../outcome.ts';
import type { Answer } from '../http/client.ts';
import type { Stretch } from './ranges.ts';
import { sameVersion, type Validator, validatorOf } from './validator.ts';

/** The parts of an answer that are judged. */
export type Judged = Pick<Answer, 'status' | 'headers' | 'url' | 'length'>;

/** The other side cannot give parts of a file, or gives others than asked: it must be fetched in one piece. */
export class NoRanges extends Fault {}

/** What the first answer says about the file. */
export type First =
  | { kind: 'ranges'; total: number; stretch: Stretch; validator: Validator }
  | { kind: 'whole'; total: number | undefined; validator: Validator };

/** Judges the first answer. */
export function judgeFirst(answer: Judged): First {
  const { status, headers, length } = answer;
  const validator = validatorOf(headers);
  if (status === 200) return { kind: 'whole', total: length, validator };
  if (status === 206) {
    const { stretch, total } = contentRange(answer);
    if (stretch[0] !== 0)
      throw new NoRanges(`${answer.url.host} answered with another part of the file than asked for`);
    return { kind: 'ranges', total, stretch, validator };
  }
  if (status === 416 && /^bytes \*\/0$/i.test(headers.get('content-range') ?? ''))
    return { kind: 'whole', total: 0, validator };
  if (status === 416) throw new NoRanges(`${answer.url.host} refuses to send a part of the file`);
  throw refusal(answer);
}

/** Judges the answer to a request for more of a file that is known: gives the end of the stretch that comes. */
export function judgeNext(answer: Judged, asked: Stretch, known: { total: number; validator: Validator }): number {
  const { status, headers, url } = answer;
  if (status === 200 || status === 416) throw new Changed(`${url.host} has another version of the file than before`);
  if (status !== 206) throw refusal(answer);
  const { stretch, total } = contentRange(answer);
  if (total !== known.total || !sameVersion(validatorOf(headers), known.validator))
    throw new Changed(`${url.host} has another version of the file than before`);
  if (stretch[0] !== asked[0] || stretch[1] > asked[1])
    throw new NoRanges(`${url.host} answered with another part of the file than asked for`);
  return stretch[1];
}

function contentRange({ headers, url, length }: Judged): { stretch: Stretch; total: number } {
  const [, from, last, size] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(headers.get('content-range') ?? '') ?? [];
  const stretch: Stretch = [Number(from), Number(last) + 1];
  const total = Number(size);
  const fits =
    stretch[0] < stretch[1] && stretch[1] <= total && (length ?? stretch[1] - stretch[0]) === stretch[1] - stretch[0];
  if (size === undefined || !fits) throw new NoRanges(`${url.host} does not say which part of the file it sends`);
  return { stretch, total };
}

/** An answer that is not what was asked for, as what it means for the download. */
export function refusal({ status, headers, url }: Judged): Error {
  const said = `${url.host} answered ${status}${reasons[status] === undefined ? '' : ` ${reasons[status]}`}`;
  if (status === 401 || status === 403 || status === 407)
    return new Refused('SourceUnauthorized', `${said}; check the Secret that credentials names`);
  if (status === 204) return new Refused('EmptySource', `${said}; check modelURL`);
  const passes = status >= 500 || status === 408 || status === 425 || status === 429;
  if (passes || later.has(status))
    return new Fault(said, { again: passes ? 'soon' : 'never', retryAfter: retryAfter(headers.get('retry-after')) });
  const where = status >= 300 && status < 400 ? ' without a place to go to' : '';
  return new Refused('SourceNotFound', `${said}${where}; check modelURL`);
}

/** Not yet, or not while others are at it: minutes may help, and seconds do not. */
const later: ReadonlySet<number> = new Set([202, 409, 423]);

const reasons: Readonly<Record<number, string>> = {
  204: 'No Content',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  407: 'Proxy Authentication Required',
  410: 'Gone',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** Milliseconds; a date is too rare in answers to programs to need a clock here. */
const retryAfter = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) * 1_000 : undefined;

/** A page for people where a file should be: most often a login. */
export const isPage = ({ headers }: Judged): boolean => /^text\/html\b/i.test(headers.get('content-type') ?? '');

/** How the bytes of the body are encoded, if they are. */
export function encodingOf({ headers }: Judged): string | undefined {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase();
  return encoding === '' || encoding === 'identity' ? undefined : encoding;
}
