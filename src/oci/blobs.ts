// Content of a repository by its digest. A cut is mended by asking for the rest, as long as each try brings something;
// the digest is over all pieces, so it does not matter who sent which.

import { Check, type Judge } from './digest.ts';
import { RegistryError } from './errors.ts';
import type { Descriptor } from './manifest.ts';
import type { Place } from './reference.ts';
import { refusal, type Registry } from './registry.ts';
import type { Bounded } from './resolve.ts';
import { Channel, Memory, type Sink } from './sink.ts';
import { type Answer, header } from './wire.ts';

type Content = Pick<Descriptor, 'digest' | 'size'>;

/** A blob into a sink; what is in the sink is right only when this ends without an error of the judge. */
export async function fetchBlob(
  registry: Registry,
  place: Place,
  content: Content,
  { sink, signal, judge: check = new Check(content) }: Bounded & { sink: Sink; judge?: Judge },
): Promise<void> {
  let failures = 0;
  const put = (piece: Buffer) => {
    failures = 0;
    check.take(piece);
    return sink.put(piece);
  };
  while (check.missing > 0) {
    try {
      await rest(registry, place, content, { sink: { put }, from: check.size, signal });
      if (check.missing > 0) throw ended(place, content, check.size);
    } catch (error) {
      failures += 1;
      await registry.pause(error, failures, signal);
    }
  }
  check.finish();
}

/** The bytes of a blob, piece by piece; they are right only when they have ended without an error. */
export async function* blobBytes(
  registry: Registry,
  place: Place,
  content: Content,
  { signal }: Bounded = {},
): AsyncGenerator<Buffer> {
  const left = new AbortController();
  const channel = new Channel(() => left.abort());
  const ends = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
  const fetched = fetchBlob(registry, place, content, { sink: channel, signal: ends }).then(
    () => channel.end(),
    (error: unknown) => channel.end(error),
  );
  yield* channel;
  await fetched;
}

/** A small blob as a whole, such as a config. */
export async function blobWhole(
  registry: Registry,
  place: Place,
  content: Content,
  { most, ...bounds }: Bounded & { most: number },
): Promise<Buffer> {
  const over = (size: number) =>
    new RegistryError({ reason: 'TooLarge', message: `${content.digest} has ${size} bytes; at most ${most} are read` });
  if (content.size > most) throw over(content.size);
  const memory = new Memory(most, over);
  await fetchBlob(registry, place, content, { sink: memory, ...bounds });
  return memory.bytes();
}

/** Whether a repository has a blob. */
export function hasBlob(registry: Registry, place: Place, digest: string, { signal }: Bounded = {}): Promise<boolean> {
  return registry.patiently(async () => {
    const ask = { method: 'HEAD', place, to: `blobs/${digest}`, actions: 'pull,push', signal } as const;
    const answer = await registry.expect(ask, 200, 404);
    await answer.body.discard();
    return answer.status === 200;
  }, signal);
}

interface Rest {
  signal: AbortSignal | undefined;
  sink: Sink;
  /** Bytes that are here already. */
  from: number;
}

async function rest(
  registry: Registry,
  place: Place,
  { digest, size }: Content,
  { sink, from, signal }: Rest,
): Promise<void> {
  const headers = from > 0 ? { range: `bytes=${from}-` } : {};
  const ask = { method: 'GET', place, to: `blobs/${digest}`, actions: 'pull', headers, signal } as const;
  const answer = await registry.ask(ask);
  if (answer.status === 416) throw new RegistryError({ reason: 'Digest', message: shorter(digest, from, size) });
  if (answer.status !== 200 && answer.status !== 206) throw await refusal(ask, answer);
  await answer.body.flow(without(from - startOf(answer, from), sink));
}

const shorter = (digest: string, from: number, size: number): string =>
  `${digest} has no more than ${from} bytes there, instead of ${size}`;

/** Where the bytes of an answer begin: a server may not know ranges, or round them. */
function startOf(answer: Answer, from: number): number {
  if (answer.status === 200) return 0;
  const start = /^bytes (\d+)-/.exec(header(answer, 'content-range') ?? '')?.[1];
  if (start !== undefined && Number(start) <= from) return Number(start);
  answer.body.drop();
  throw new RegistryError({ reason: 'Protocol', message: 'the registry sends another range than it was asked for' });
}

/** A sink that leaves out the first few bytes, which are here already. */
function without(first: number, sink: Sink): Sink {
  let skip = first;
  if (skip === 0) return sink;
  const put = (piece: Buffer) => {
    const kept = piece.subarray(Math.min(skip, piece.length));
    skip -= piece.length - kept.length;
    return kept.length > 0 ? sink.put(kept) : undefined;
  };
  return { put };
}

const ended = ({ host }: Place, { digest, size }: Content, at: number): RegistryError =>
  new RegistryError({ reason: 'Network', message: `${host}: ${digest} ended after ${at} of ${size} bytes` });
