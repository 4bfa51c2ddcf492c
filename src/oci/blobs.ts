// Content of a repository by its digest. A cut is mended by asking for the rest, as long as each try brings something;
// the digest is over all pieces, so it does not matter who sent which.

import { whole } from './bytes.ts';
import { Check } from './digest.ts';
import { RegistryError } from './errors.ts';
import type { Descriptor } from './manifest.ts';
import type { Place } from './reference.ts';
import { refusal, type Registry } from './registry.ts';
import type { Bounded } from './resolve.ts';
import { type Answer, header } from './wire.ts';

type Content = Pick<Descriptor, 'digest' | 'size'>;

/** The bytes of a blob; they are right only when they have ended without an error. */
export async function* blobBytes(
  registry: Registry,
  place: Place,
  content: Content,
  { signal }: Bounded = {},
): AsyncGenerator<Buffer> {
  const check = new Check(content);
  for (let failures = 1; check.missing > 0; failures += 1) {
    try {
      for await (const piece of rest(registry, place, content, check.size, signal)) {
        check.take(piece);
        failures = 0;
        yield piece;
      }
      if (check.missing > 0) throw ended(place, content, check.size);
    } catch (error) {
      await registry.pause(error, Math.max(1, failures), signal);
    }
  }
  check.finish();
}

/** A small blob as a whole, such as a config. */
export async function blobWhole(
  registry: Registry,
  place: Place,
  content: Content,
  { most, ...bounds }: Bounded & { most: number },
): Promise<Buffer> {
  if (content.size > most)
    throw new RegistryError({
      reason: 'TooLarge',
      message: `${content.digest} has ${content.size} bytes; at most ${most} are read`,
    });
  return whole(blobBytes(registry, place, content, bounds));
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

async function* rest(registry: Registry, place: Place, { digest }: Content, from: number, signal?: AbortSignal) {
  const headers = from > 0 ? { range: `bytes=${from}-` } : {};
  const ask = { method: 'GET', place, to: `blobs/${digest}`, actions: 'pull', headers, signal } as const;
  const answer = await registry.ask(ask);
  if (answer.status !== 200 && answer.status !== 206) throw await refusal(ask, answer);
  yield* without(answer, from - startOf(answer));
}

/** Where the bytes of an answer begin: a server may not know ranges, or round them. */
function startOf(answer: Answer): number {
  if (answer.status === 200) return 0;
  return Number(/^bytes (\d+)-/.exec(header(answer, 'content-range') ?? '')?.[1] ?? Number.NaN);
}

/** The bytes of an answer without the first few, which are here already. */
async function* without({ body }: Answer, first: number): AsyncGenerator<Buffer> {
  let skip = first;
  if (!(skip >= 0)) {
    await body.return();
    throw new RegistryError({ reason: 'Protocol', message: 'the registry sends another range than it was asked for' });
  }
  for await (const piece of body) {
    const kept = piece.subarray(Math.min(skip, piece.length));
    skip -= piece.length - kept.length;
    if (kept.length > 0) yield kept;
  }
}

const ended = ({ host }: Place, { digest, size }: Content, at: number): RegistryError =>
  new RegistryError({ reason: 'Network', message: `${host}: ${digest} ended after ${at} of ${size} bytes` });
