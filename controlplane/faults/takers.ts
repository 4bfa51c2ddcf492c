// The ways in which an answer is taken from the API server: passed on as it comes, kept whole until the plan has had
// its say, or opened as a watch. Each notes in the trace what the server said.

import type { IncomingHttpHeaders } from 'node:http';
import { type AnswerReader, readerFor, wasEffective } from './answers.ts';
import { changes } from './classify.ts';
import type { Outlet } from './outlet.ts';
import { type Rig, surprising } from './rig.ts';
import { makeStream, type WatchStream } from './stream.ts';
import type { Call } from './trace.ts';
import type { Flow, Taker } from './upstream.ts';

/** One request and the way back to its caller. */
export interface Errand {
  rig: Rig;
  call: Call;
  outlet: Outlet;
}

/** A whole answer, or why there is none: the connection broke, or the plan lost it. */
export type Outcome = { status: number; headers: IncomingHttpHeaders; body: Buffer } | { failure: Error } | 'lost';

/** Hands the answer on as it comes. To be made just before the request is sent. */
export function passing(errand: Errand): Taker {
  const { outlet, call } = errand;
  const notes = noting(errand);
  let flow: Flow;
  return {
    start(status, headers, itsFlow) {
      flow = itsFlow;
      notes.start(status, headers);
      outlet.head(status, headers);
    },
    data(chunk) {
      notes.data(chunk);
      outlet.write(chunk);
      inStep(outlet, flow);
    },
    end() {
      notes.end();
      outlet.end();
    },
    failed(error) {
      call.failure = error.message;
      outlet.reset();
    },
  };
}

/** Keeps the answer until it is whole. To be made just before the request is sent. */
export function keeping(errand: Errand, done: (outcome: Outcome) => void): Taker {
  const notes = noting(errand);
  const chunks: Buffer[] = [];
  let head = { status: 0, headers: {} };
  return {
    start(status, headers) {
      head = { status, headers };
      notes.start(status, headers);
    },
    data(chunk) {
      chunks.push(chunk);
      notes.data(chunk);
    },
    end() {
      notes.end();
      done({ ...head, body: Buffer.concat(chunks) });
    },
    failed(failure) {
      errand.call.failure = failure.message;
      done({ failure });
    },
  };
}

/** How a watch begins. */
export interface Opening {
  /** May hold the answer back, or refuse it. */
  admit(): 'go' | Promise<'go' | 'over'>;
  /** Lines before those of the API server. */
  first?: Buffer;
  opened(stream: WatchStream): void;
}

/** Opens a watch; an answer that is no stream of lines is passed on. */
export function watching(errand: Errand, opening: Opening): Taker {
  const { outlet, call, rig } = errand;
  const plain = passing(errand);
  let stream: WatchStream | undefined;
  let flow: Flow;
  return {
    start(status, headers, itsFlow) {
      flow = itsFlow;
      if (status !== 200 || headers['content-type']?.includes('json') !== true)
        return plain.start(status, headers, flow);
      call.answer = { status, reason: '', resourceVersion: '', uid: '', at: rig.clock.monotonic() };
      const own = streamOf(errand, flow);
      stream = own;
      const begin = (verdict: 'go' | 'over') => {
        if (verdict === 'over') return flow.abort();
        outlet.head(status, headers);
        outlet.flushHead();
        if (opening.first) own.take(opening.first);
        opening.opened(own);
        flow.resume();
      };
      flow.pause();
      const verdict = opening.admit();
      if (verdict === 'go') begin(verdict);
      else surprising(verdict.then(begin));
    },
    data(chunk) {
      if (stream === undefined) return plain.data(chunk);
      stream.take(chunk);
      inStep(outlet, flow);
    },
    end() {
      if (stream) stream.upstreamEnded();
      else plain.end();
    },
    failed: (error) => plain.failed(error),
  };
}

/** Takes no more from the API server than the caller takes from here. */
function inStep(outlet: Outlet, flow: Flow): void {
  if (!outlet.full()) return;
  flow.pause();
  outlet.onDrain(() => flow.resume());
}

function streamOf({ rig, call, outlet }: Errand, flow: Flow): WatchStream {
  const { clock, recorder, watches } = rig;
  const stream = makeStream({
    call,
    outlet,
    clock,
    recorder,
    watched: () => rig.watched(),
    replays: () => rig.replays(),
    giveUp: () => flow.abort(),
    occur: (event, object) => rig.occur({ subject: 'event', at: event.at, event, object }),
    perform: (action, own) => surprising(rig.perform(action, own)),
  });
  outlet.onGone(() => watches.closed(stream));
  outlet.onDelivered(() => watches.closed(stream));
  return stream;
}

/** Reads an answer along its way, and notes it when it is complete. */
function noting({ call, rig }: Errand) {
  const newestBefore = rig.recorder.newest();
  let status = 0;
  let reader: AnswerReader;
  return {
    start(itsStatus: number, headers: IncomingHttpHeaders) {
      status = itsStatus;
      reader = readerFor(call, status, headers);
    },
    data: (chunk: Buffer) => reader.take(chunk),
    end() {
      const answer = { status, ...reader.read(), at: rig.clock.monotonic() };
      call.answer = answer;
      if (changes(call)) call.effective = wasEffective(answer, newestBefore);
      rig.recorder.saw(answer.resourceVersion);
    },
  };
}
