// How one file is fetched. The first answer decides: in ranges over several lanes, which survive cuts and restarts, or in
// one piece where the other side cannot do that. A source that changes under way is begun anew.

import { delayAfter, sleep } from '../../../base/index.ts';
import type { Answer } from '../http/client.ts';
import { Changed, Fault, Refused } from '../outcome.ts';
import { encodingOf, isPage, judgeFirst, judgeNext, NoRanges } from './answers.ts';
import type { Item, Kit } from './item.ts';
import type { Part } from './part.ts';
import { pieces, type Stretch } from './ranges.ts';
import { FileSink } from './sink.ts';
import { canTell, ifRange } from './validator.ts';

const mebibyte = 1024 * 1024;
/** What is asked for first: small, because it comes over one lane alone. */
const firstPiece = 8 * mebibyte;
const piece = 32 * mebibyte;
const patience = { failures: 8, restarts: 5, delay: { first: 500, most: 20_000 }, retryAfter: 120_000 };

/** Counts failures in a row, without progress between them. Each lane counts its own: one cut is felt by all of them. */
class Tries {
  #failures = 0;
  #reached = -1;

  /** One more, with so many bytes there; gives how many there are in a row. */
  failed(bytes: number): number {
    this.#failures = bytes > this.#reached ? 1 : this.#failures + 1;
    this.#reached = Math.max(this.#reached, bytes);
    return this.#failures;
  }
}

/** The fetching of one file. */
export class Fetch {
  readonly #item: Item;
  readonly #part: Part;
  readonly #kit: Kit;
  /** Where the bytes are, behind redirects that need not be followed again. */
  #behind: URL | undefined;
  #inRanges = true;
  #restarts = 0;
  readonly #tries = new Tries();

  constructor(item: Item, part: Part, kit: Kit) {
    this.#item = item;
    this.#part = part;
    this.#kit = kit;
  }

  /** Until everything is there. */
  async run(): Promise<void> {
    const { lanes, meter, signal } = this.#kit;
    meter.count(this.#part.bytes);
    if (this.#part.known) meter.announce(this.#item.path, this.#part.total);
    for (let done = false; !done; )
      try {
        if (!this.#part.known) await lanes.run(() => this.#first());
        await this.#rest();
        done = true;
      } catch (error) {
        signal.throwIfAborted();
        await this.#recover(error);
      }
  }

  /** Makes ready for another try, or gives up. */
  async #recover(error: unknown): Promise<void> {
    if (!(error instanceof Fault)) throw error;
    const changed = error instanceof Changed || error instanceof NoRanges;
    if (!changed) await this.#wait(error, this.#tries);
    if (!changed && (!this.#part.known || this.#part.canResume)) return;
    this.#restarts++;
    if (this.#restarts > patience.restarts)
      throw new Fault(`${error.message} (${this.#restarts} times)`, { cause: error });
    this.#kit.log.warn('A file is begun anew', { path: this.#item.path, why: error.message });
    this.#inRanges &&= !(error instanceof NoRanges) && this.#restarts < 3;
    await this.#forget();
  }

  async #forget(): Promise<void> {
    this.#kit.meter.count(-this.#part.bytes);
    this.#kit.meter.announce(this.#item.path, this.#item.size);
    this.#behind = undefined;
    await this.#part.clear();
  }

  /** Waits before the next try, for as long as the other side asked, or longer with each failure that brought nothing. */
  async #wait(error: Fault, tries: Tries): Promise<void> {
    if (error.again === 'never') throw error;
    const failures = tries.failed(this.#part.bytes);
    const pause = error.retryAfter ?? delayAfter(failures, patience.delay, this.#kit.random);
    if (failures > patience.failures || pause > patience.retryAfter)
      throw new Fault(error.message, { again: 'never', cause: error });
    const { clock, signal, log } = this.#kit;
    log.warn('The download was interrupted', { path: this.#item.path, why: error.message, failures });
    await sleep(clock, pause, signal);
    signal.throwIfAborted();
  }

  /** The first request: what there is, and its beginning; all of it where there are no ranges. */
  async #first(): Promise<void> {
    const answer = await this.#ask(this.#inRanges ? { range: `bytes=0-${firstPiece - 1}` } : {}, this.#kit.signal);
    try {
      const first = judgeFirst(answer);
      this.#look(answer, first.total);
      await this.#kit.room(first.total ?? 0);
      const inRanges = first.kind === 'ranges';
      if (inRanges && !canTell(first.validator) && !this.#kit.pinned)
        throw new NoRanges(`${answer.url.host} does not say which version of the file it sends`);
      const encoding = encodingOf(answer);
      this.#part.begin({ ...first, canResume: inRanges, ...(encoding !== undefined && { encoding }) });
      this.#kit.meter.announce(this.#item.path, first.total);
      if (first.total !== 0)
        await this.#receive(answer, first.kind === 'ranges' ? first.stretch : [0, Number.MAX_SAFE_INTEGER]);
    } catch (error) {
      answer.drop();
      throw error;
    }
  }

  #look(answer: Answer, total: number | undefined): void {
    const { path, size, sha256 } = this.#item;
    if (isPage(answer) && !/\.html?$/i.test(path))
      throw new Refused(
        'EmptySource',
        `${answer.url.host} answered with a web page (text/html) where ${path} should be; it may ask for a login`,
      );
    if (size === undefined || total === undefined || size === total) return;
    const differs = `${path} at ${answer.url.host} has ${total} bytes, and ${size} in the listing`;
    // What is named by its digest cannot have become another meanwhile.
    throw sha256 === undefined ? new Changed(differs) : new Refused('ChecksumMismatch', `${differs}; check modelURL`);
  }

  /** Everything that is still missing, over as many lanes as there are. */
  async #rest(): Promise<void> {
    const { total, canResume } = this.#part;
    if (!canResume || total === undefined) return;
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#kit.signal, stop.signal]);
    const tasks = pieces(this.#part.missing(0, total), piece).map((stretch) =>
      this.#kit.lanes.run(() => this.#stretch(stretch, signal)).catch((error: unknown) => stop.abort(error)),
    );
    await Promise.all(tasks);
    signal.throwIfAborted();
  }

  /** One stretch, over as many requests as it takes. */
  async #stretch([from, to]: Stretch, signal: AbortSignal): Promise<void> {
    const tries = new Tries();
    for (let [gap] = this.#part.missing(from, to); gap; [gap] = this.#part.missing(from, to))
      try {
        signal.throwIfAborted();
        await this.#range(gap, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Fault) || error instanceof Changed || error instanceof NoRanges) throw error;
        await this.#wait(error, tries);
      }
  }

  async #range(gap: Stretch, signal: AbortSignal): Promise<void> {
    const { total = 0, validator = {} } = this.#part;
    const condition = ifRange(validator);
    const range = `bytes=${gap[0]}-${gap[1] - 1}`;
    const answer = await this.#ask({ range, ...(condition !== undefined && { 'if-range': condition }) }, signal);
    try {
      const to = judgeNext(answer, gap, { total, validator });
      await this.#receive(answer, [gap[0], to]);
    } catch (error) {
      answer.drop();
      throw error;
    }
  }

  /** Reads a body to its place; what came before a cut is kept. */
  async #receive(answer: Answer, [from, to]: Stretch): Promise<void> {
    const { blocks, meter } = this.#kit;
    const sink = new FileSink(this.#part, blocks, { from, to, count: (bytes) => meter.add(bytes) });
    try {
      await meter.during(() => answer.read(sink));
    } finally {
      await sink.finish();
    }
  }

  async #ask(headers: Record<string, string>, signal: AbortSignal): Promise<Answer> {
    const { url, authorize } = this.#item;
    const behind = this.#behind;
    if (behind) {
      const own = behind.origin === url.origin ? authorize : undefined;
      const answer = await this.#kit.ask({ url: behind, headers, authorize: own, signal });
      if (answer.status < 400 || answer.status === 416) return answer;
      // Such places are often open for minutes only.
      answer.drop();
      this.#behind = undefined;
    }
    const answer = await this.#kit.ask({ url, headers, authorize, signal });
    if (answer.url.href !== url.href) this.#behind = answer.url;
    return answer;
  }
}
