// What every kind of source does: it looks at what is there and says which files to fetch.

import { type Clock, delayAfter, type DialOptions, type Log, sleep } from '../../../base/index.ts';
import type { Secrets } from '../credentials.ts';
import type { Item } from '../fetch/item.ts';
import type { Answer, Ask, Request } from '../http/client.ts';
import { Fault, Refused } from '../outcome.ts';
import { refusal } from '../fetch/answers.ts';
import { pathOf, shown } from '../unpack/index.ts';

/** What is asked of a source. */
export interface Wanted {
  /** As the user wrote it. */
  url: string;
  framework: string;
  /** `sha256:...`, where it was asked for. */
  digest: string | undefined;
}

/** What a source may use. */
export interface Means {
  ask: Ask;
  secrets: Secrets;
  /** Texts of Docker configurations. */
  configs: readonly string[];
  dial: DialOptions;
  /** What it runs on, by the words of Node: an image may be made for several. */
  machine: { platform: string; arch: string };
  /** Registries without TLS. */
  plainHttp: readonly string[];
  /** What must be closed when everything is fetched. */
  open: AsyncDisposableStack;
  clock: Clock;
  random: () => number;
  signal: AbortSignal;
  log: Log;
}

/** What to fetch. */
export interface Plan {
  items: readonly Item[];
  /** `sha256:...` of all, where the source itself names its content. */
  digest?: string;
}

/** Looks at a source. */
export type Look = (wanted: Wanted, means: Means) => Promise<Plan>;

const patience = { failures: 6, delay: { first: 500, most: 10_000 }, retryAfter: 120_000 };

/** Asks a question about a source, again while it fails for reasons that may pass; any clear answer comes back. */
export async function patiently(means: Means, request: Omit<Request, 'signal'>): Promise<Answer> {
  const { ask, signal, clock, random, log } = means;
  for (let failures = 1; ; failures++)
    try {
      const answer = await ask({ ...request, signal });
      if (answer.status < 500 && answer.status !== 429 && answer.status !== 408) return answer;
      answer.drop();
      throw refusal(answer);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Fault) || error.again === 'never' || failures > patience.failures) throw error;
      const pause = error.retryAfter ?? delayAfter(failures, patience.delay, random);
      if (pause > patience.retryAfter) throw error;
      log.warn('The source does not answer well', { why: error.message, failures });
      await sleep(clock, pause, signal);
      signal.throwIfAborted();
    }
}

/** A name from a listing as a path of the tree. */
export function placeOf(name: string): string {
  const read = pathOf(name);
  if ('wrong' in read || read.path === '')
    throw new Refused(
      'UnsafeArchive',
      `the source holds ${shown(name)}, which cannot become a file: ${'wrong' in read ? read.wrong : 'it is empty'}`,
    );
  return read.path;
}

/** The most files of one source. */
export const mostFiles = 100_000;

/** Ten times what the most files take, in pages of the usual size. */
const mostPages = 1_000;

/** The pages of a listing, which must come to an end. */
export class Pages {
  readonly #seen = new Set<string>();

  /** Turns to the page of this name; throws when it was there before, or when there are too many. */
  turn(name: string): void {
    if (this.#seen.has(name))
      throw new Refused('EmptySource', 'the listing of the source leads back to a page that was read; check modelURL');
    this.#seen.add(name);
    if (this.#seen.size > mostPages)
      throw new Refused('UnsafeArchive', `the listing of the source has more than ${mostPages} pages`);
  }
}

/** A path with every part as a URL wants it. */
export const encodedPath = (path: string): string => path.split('/').map(encodedPart).join('/');

export const encodedPart = (part: string): string =>
  encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
