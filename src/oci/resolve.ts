// From a name to content: what a tag means right now, and the manifest itself, checked against its digest.

import { Check, isDigest } from './digest.ts';
import { RegistryError } from './errors.ts';
import {
  acceptedManifests,
  type Descriptor,
  type Document,
  largestManifest,
  readDocument,
  tooLarge,
} from './manifest.ts';
import { type Reference, selector, written } from './reference.ts';
import type { Ask, Registry } from './registry.ts';
import { header } from './wire.ts';

/** What bounds an operation. */
export interface Bounded {
  signal?: AbortSignal;
}

const ask = (reference: Reference, method: 'GET' | 'HEAD', signal?: AbortSignal): Ask => ({
  method,
  place: reference,
  to: `manifests/${selector(reference)}`,
  actions: 'pull',
  headers: { accept: acceptedManifests },
  signal,
});

/** The digest, type and size that a reference means now. */
export function resolve(registry: Registry, reference: Reference, { signal }: Bounded = {}): Promise<Descriptor> {
  return registry.patiently(async () => {
    const answer = await registry.ask(ask(reference, 'HEAD', signal));
    await answer.body.discard();
    const [digest, size] = [
      header(answer, 'docker-content-digest') ?? reference.digest,
      lengthOf(header(answer, 'content-length')),
    ];
    const mediaType = header(answer, 'content-type')?.split(';')[0]?.trim();
    const told =
      answer.status === 200 && digest !== undefined && isDigest(digest) && size > 0 && mediaType !== undefined;
    if (!told) return (await fetched(registry, reference, signal)).descriptor;
    differs(reference, digest);
    return { digest, size, mediaType };
  }, signal);
}

/** The manifest or index behind a reference. */
export const manifestOf = (registry: Registry, reference: Reference, { signal }: Bounded = {}): Promise<Document> =>
  registry.patiently(() => fetched(registry, reference, signal), signal);

async function fetched(registry: Registry, reference: Reference, signal?: AbortSignal): Promise<Document> {
  const answer = await registry.expect(ask(reference, 'GET', signal), 200);
  const announced = lengthOf(header(answer, 'content-length'));
  if (announced > largestManifest) {
    answer.body.drop();
    throw tooLarge(announced);
  }
  const bytes = await answer.body.whole(largestManifest, tooLarge);
  const digest = reference.digest ?? header(answer, 'docker-content-digest');
  if (digest !== undefined && isDigest(digest)) verify(bytes, digest);
  const document = readDocument(bytes, header(answer, 'content-type'));
  return digest === undefined ? document : { ...document, descriptor: { ...document.descriptor, digest } };
}

function verify(bytes: Buffer, digest: string): void {
  const check = new Check({ digest, size: bytes.length });
  check.take(bytes);
  check.finish();
}

function differs(reference: Reference, digest: string): void {
  if (reference.digest === undefined || reference.digest === digest) return;
  throw new RegistryError({ reason: 'Digest', message: `${written(reference)} is answered with ${digest}` });
}

const lengthOf = (text: string | undefined): number => (text !== undefined && /^\d+$/.test(text) ? Number(text) : -1);
