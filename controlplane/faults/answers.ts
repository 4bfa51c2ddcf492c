// Reads from an answer what the trace keeps: reason, resourceVersion and UID. An answer about one object is parsed; of
// a list only the first and the last bytes are looked at, since its metadata stands at one of the two ends and the
// items between them may be sixty thousand.

import type { IncomingHttpHeaders } from 'node:http';
import type { Answer, Call } from './trace.ts';

/** Collects as much of an answer as it needs. */
export interface AnswerReader {
  take(chunk: Buffer): void;
  read(): Pick<Answer, 'reason' | 'resourceVersion' | 'uid'>;
}

const nothing = { reason: '', resourceVersion: '', uid: '' };
const endBytes = 2048;
const mostBytes = 8 * 1024 * 1024;
const versionInside = /"metadata":\{[^{}]*"resourceVersion":"(\d+)"/;

/** The reader that fits the answer to this request. */
export function readerFor({ verb }: Call, status: number, headers: IncomingHttpHeaders): AnswerReader {
  if (headers['content-type']?.includes('json') !== true) return { take: () => {}, read: () => nothing };
  return verb === 'list' && status < 300 ? listReader() : objectReader();
}

function listReader(): AnswerReader {
  let head = '';
  let tail: Buffer = Buffer.alloc(0);
  return {
    take(chunk) {
      if (head.length < endBytes) head += chunk.subarray(0, endBytes).toString('latin1');
      tail = chunk.length >= endBytes ? chunk.subarray(-endBytes) : Buffer.concat([tail, chunk]).subarray(-endBytes);
    },
    read() {
      const beforeItems = head.split('"items":', 1)[0] ?? '';
      const afterItems =
        tail
          .toString('latin1')
          .split(/\],"kind":/)
          .at(-1) ?? '';
      const found = versionInside.exec(beforeItems) ?? versionInside.exec(afterItems);
      return { ...nothing, resourceVersion: found?.[1] ?? '' };
    },
  };
}

function objectReader(): AnswerReader {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    take(chunk) {
      size += chunk.length;
      if (size <= mostBytes) chunks.push(chunk);
    },
    read: () => (size <= mostBytes ? wordsOf(Buffer.concat(chunks).toString('utf8')) : nothing),
  };
}

interface AnyAnswer {
  kind?: string;
  reason?: string;
  metadata?: { resourceVersion?: string; uid?: string };
  details?: { uid?: string };
}

function wordsOf(text: string): ReturnType<AnswerReader['read']> {
  const { kind, reason, metadata, details } = (parsed(text) ?? {}) as AnyAnswer;
  if (kind === 'Status') return { reason: reason ?? '', resourceVersion: '', uid: details?.uid ?? '' };
  return { reason: '', resourceVersion: metadata?.resourceVersion ?? '', uid: metadata?.uid ?? '' };
}

/** The value of a JSON text, or undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether a write changed something. Every stored change gets a resourceVersion above all earlier ones, so an answer
 * that is not newer than what had gone through before the write tells of an object that stayed as it was.
 */
export function wasEffective(answer: Answer, newestBefore: number): boolean | undefined {
  if (answer.status >= 300) return false;
  if (answer.resourceVersion === '') return answer.uid !== '' || undefined;
  return Number(answer.resourceVersion) > newestBefore;
}
