// A random search for two leaders at once: two candidates play by the rules while requests and answers are late or lost
// and either of them may be stopped for longer than its lease. The record they fight for knows one thing, versions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Lease } from '../objects/index.ts';
import { type Candidate, type Happening, type Standing, defaultTimes, mayWriteAt, step, wishOf } from './standing.ts';

/** One candidate's round as messages: what it asks reaches the record late or never, and so does the answer. */
interface Round {
  who: number;
  /** Time until the request takes effect, until its answer is handled, and until the next round of this candidate. */
  there: number;
  back: number;
  rest: number;
  fate: 'fine' | 'request lost' | 'answer lost';
}

/** A record that changes only for whoever knows its version: all that the election asks of the API server. */
class RecordOfLease {
  lease: Lease | undefined;
  #version = 0;

  write(wanted: Lease): Lease | undefined {
    if (wanted.metadata.resourceVersion !== this.lease?.metadata.resourceVersion) return undefined;
    this.lease = { ...wanted, metadata: { ...wanted.metadata, resourceVersion: String(++this.#version) } };
    return this.lease;
  }
}

interface Term {
  who: number;
  from: number;
  until: number;
}

/** Plays the rounds of both candidates in the order of time; gives the times in which each could have written. */
class Simulation {
  readonly terms: Term[] = [];
  readonly #record = new RecordOfLease();
  readonly #standings: Standing[] = [{ as: 'standby' }, { as: 'standby' }];
  readonly #rounds: Round[][];
  #agenda: { at: number; run: () => void }[] = [];
  #now = 0;

  constructor(rounds: Round[]) {
    this.#rounds = [0, 1].map((who) => rounds.filter((one) => one.who === who));
  }

  run(): Term[] {
    this.#begin(0);
    this.#begin(1);
    for (;;) {
      this.#agenda = this.#agenda.toSorted((a, b) => a.at - b.at);
      const next = this.#agenda.shift();
      if (!next) return this.terms;
      this.#now = next.at;
      next.run();
    }
  }

  #begin(who: number): void {
    const one = this.#rounds[who]?.shift();
    const standing = this.#standingOf(who);
    if (!one) return;
    if (standing.as === 'leading' && !standing.unsure) this.#write(who, one);
    else this.#look(who, one);
  }

  #look(who: number, one: Round): void {
    this.#exchange(
      one,
      () => this.#record.lease,
      (lease) => {
        if (lease === 'none') this.#happened(who, { is: 'unanswered', at: this.#now });
        else this.#happened(who, { is: 'saw', lease, at: this.#now });
        if (lease === 'none') this.#later(one.rest, () => this.#begin(who));
        else this.#write(who, one);
      },
    );
  }

  #write(who: number, one: Round): void {
    const asked = this.#now;
    const wanted = wishOf(this.#standingOf(who), candidateOf(who), { now: asked, at: asked });
    const next = () => this.#later(one.rest, () => this.#begin(who));
    if (!wanted) {
      next();
      return;
    }
    this.#exchange(
      one,
      () => this.#record.write(wanted),
      (lease) => {
        if (lease === 'none') this.#happened(who, { is: 'unanswered', at: this.#now });
        else if (lease) this.#happened(who, { is: 'confirmed', lease, asked, at: this.#now });
        else this.#happened(who, { is: 'refused', at: this.#now });
        next();
      },
    );
  }

  #exchange<T>({ there, back, fate }: Round, effect: () => T, answered: (value: T | 'none') => void): void {
    this.#later(there, () => {
      const value = fate === 'request lost' ? 'none' : effect();
      this.#later(back, () => answered(fate === 'answer lost' ? 'none' : value));
    });
  }

  #happened(who: number, event: Happening): void {
    const standing = step(this.#standingOf(who), event, candidateOf(who));
    this.#standings[who] = standing;
    if (standing.as !== 'leading' || !mayWriteAt(standing, this.#now, defaultTimes)) return;
    this.terms.push({ who, from: this.#now, until: standing.confirmed + defaultTimes.renewDeadline });
  }

  #standingOf(who: number): Standing {
    return this.#standings[who] ?? { as: 'standby' };
  }

  #later(ms: number, run: () => void): void {
    this.#agenda.push({ at: this.#now + ms, run });
  }
}

const candidateOf = (who: number): Candidate => ({
  identity: `candidate ${who}`,
  namespace: 'baton',
  name: 'operator',
  times: defaultTimes,
});

test('no two candidates may write at the same time, whatever is late, lost or stopped', () => {
  const round = fc.record<Round>({
    who: fc.nat(1),
    there: fc.oneof(fc.nat(200), fc.nat(20_000)),
    back: fc.oneof(fc.nat(200), fc.nat(20_000)),
    rest: fc.oneof(fc.nat(2_000), fc.nat(30_000)),
    fate: fc.constantFrom('fine', 'fine', 'fine', 'request lost', 'answer lost'),
  });
  let led = 0;
  fc.assert(
    fc.property(fc.array(round, { minLength: 40, maxLength: 120 }), (rounds) => {
      const terms = new Simulation(rounds).run();
      led += terms.length;
      for (const [i, a] of terms.entries())
        for (const b of terms.slice(i + 1))
          assert.ok(a.who === b.who || a.until <= b.from || b.until <= a.from, JSON.stringify({ a, b }));
    }),
    { numRuns: 500 },
  );
  assert.ok(led > 1_000, `the search is worth something only if somebody leads: ${led}`);
});
