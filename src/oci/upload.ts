// Content into a repository. What is there already is not sent; what another repository of the registry has is mounted;
// the rest goes up in chunks, and after a cut the registry is asked how far it came, so that no byte is sent in vain.

import { digestOf } from './digest.ts';
import { hasBlob } from './blobs.ts';
import { mayPass, RegistryError } from './errors.ts';
import type { Descriptor } from './manifest.ts';
import { type Place, type Reference, selector } from './reference.ts';
import { refusal, type Registry } from './registry.ts';
import type { Bounded } from './resolve.ts';
import { type Answer, header } from './wire.ts';

/** Content that can be read from any point, as often as it takes. */
export interface BlobSource {
  digest: string;
  size: number;
  /** The bytes from `start` up to, and without, `end`. */
  open: (start: number, end: number) => AsyncIterable<Uint8Array>;
}

export interface UploadOptions extends Bounded {
  /** A repository of the same registry that may have it. */
  mountFrom?: string | undefined;
  /** Larger blobs go up in pieces of this size. Without it everything is sent in one, and in pieces after a first cut. */
  chunk?: number | undefined;
}

/** How a blob came to be in the repository. */
export type Uploaded = 'present' | 'mounted' | 'uploaded';

/** Registries wait for their disk after each piece; one that keeps nothing of a broken piece loses no more than this. */
const chunkAfterCut = 64 * 1024 * 1024;
const octets = { 'content-type': 'application/octet-stream' };

/** Makes sure that a repository has a blob. */
export async function pushBlob(
  registry: Registry,
  place: Place,
  source: BlobSource,
  options: UploadOptions = {},
): Promise<Uploaded> {
  if (await hasBlob(registry, place, source.digest, options)) return 'present';
  const upload = new Upload(registry, place, source, options);
  return upload.run();
}

/** One blob on its way up. */
class Upload {
  readonly #registry: Registry;
  readonly #place: Place;
  readonly #source: BlobSource;
  readonly #options: UploadOptions;
  /** Where the next piece goes; undefined before the upload has begun, and when it must begin anew. */
  #to: URL | undefined;
  /** Bytes that the registry has. */
  #at = 0;
  #chunk: number;
  /** The least size of a piece that the registry takes. */
  #least = 0;

  constructor(registry: Registry, place: Place, source: BlobSource, options: UploadOptions) {
    this.#registry = registry;
    this.#place = place;
    this.#source = source;
    this.#options = options;
    this.#chunk = options.chunk ?? source.size;
  }

  async run(): Promise<Uploaded> {
    const { signal } = this.#options;
    let reached = 0;
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#attempt();
      } catch (error) {
        if (this.#at > reached) failures = 1;
        reached = Math.max(reached, this.#at);
        await this.#registry.pause(retried(error), failures, signal);
        if (await this.#recover()) return 'uploaded';
      }
    }
  }

  async #attempt(): Promise<Uploaded> {
    if (!this.#to && (await this.#begin()) === 'mounted') return 'mounted';
    while (this.#source.size - this.#at > this.#piece()) await this.#patch();
    await this.#finish();
    return 'uploaded';
  }

  /** How much goes into one request; the last one takes what is left. */
  #piece(): number {
    return Math.max(this.#chunk, this.#least, 1);
  }

  async #begin(): Promise<'mounted' | 'begun'> {
    const { mountFrom } = this.#options;
    const mount = mountFrom === undefined ? '' : `?mount=${this.#source.digest}&from=${encodeURIComponent(mountFrom)}`;
    const answer = await this.#send('POST', `blobs/uploads/${mount}`, { length: 0 }, [201, 202]);
    if (answer.status === 201 && mountFrom !== undefined) return 'mounted';
    this.#to = this.#locationOf(answer, this.#registry.urlOf(this.#place, 'blobs/uploads/'));
    this.#at = 0;
    this.#least = Number(header(answer, 'oci-chunk-min-length') ?? 0) || 0;
    return 'begun';
  }

  async #patch(): Promise<void> {
    const end = this.#at + this.#piece();
    const to = this.#to ?? this.#lost();
    const answer = await this.#send('PATCH', to, { length: end - this.#at, end }, [202]);
    this.#to = this.#locationOf(answer, to);
    this.#at = end;
  }

  /** The last piece and the digest in one request. */
  async #finish(): Promise<void> {
    const to = new URL(this.#to ?? this.#lost());
    to.searchParams.set('digest', this.#source.digest);
    const { size } = this.#source;
    const answer = await this.#send('PUT', to, { length: size - this.#at, end: size }, [201]);
    const said = header(answer, 'docker-content-digest');
    if (said !== undefined && said !== this.#source.digest)
      throw new RegistryError({
        reason: 'Digest',
        message: `${this.#place.host} took ${this.#source.digest} as ${said}`,
      });
  }

  /** After a failure: where the registry stands. True when everything is there after all, and only the answer was lost. */
  async #recover(): Promise<boolean> {
    const { signal } = this.#options;
    const to = this.#to;
    if (!to) return false;
    this.#to = undefined;
    this.#chunk = this.#options.chunk ?? chunkAfterCut;
    const ask = { method: 'GET', place: this.#place, to, actions: 'pull,push', signal } as const;
    const answer = await this.#registry.ask(ask).catch(() => undefined);
    await answer?.body.discard().catch(() => undefined);
    const end = /^(?:bytes=)?0-(\d+)$/.exec(answer ? (header(answer, 'range') ?? '') : '')?.[1];
    if (answer?.status !== 204 || end === undefined)
      return hasBlob(this.#registry, this.#place, this.#source.digest, this.#options);
    this.#to = this.#locationOf(answer, to);
    this.#at = Math.min(end === '0' ? 0 : Number(end) + 1, this.#source.size);
    return false;
  }

  async #send(
    method: 'POST' | 'PATCH' | 'PUT',
    to: string | URL,
    { length, end = 0 }: { length: number; end?: number },
    statuses: number[],
  ): Promise<Answer> {
    const { mountFrom, signal } = this.#options;
    const start = this.#at;
    const range = { 'content-range': `${start}-${end - 1}` };
    const headers = length > 0 ? { ...octets, ...((method === 'PATCH' || start > 0) && range) } : {};
    const body = { length, open: () => (length > 0 ? this.#source.open(start, end) : Buffer.alloc(0)) };
    const ask = { method, place: this.#place, to, actions: 'pull,push', mountFrom, headers, body, signal } as const;
    const answer = await this.#registry.ask(ask);
    if (!statuses.includes(answer.status)) throw await refusal(ask, answer);
    await answer.body.discard();
    return answer;
  }

  #locationOf(answer: Answer, base: URL): URL {
    const said = header(answer, 'location') ?? '';
    return (said === '' ? undefined : URL.parse(said, base.href)) ?? this.#lost();
  }

  #lost(): never {
    const message = `${this.#place.host} does not say where the upload goes on`;
    throw new RegistryError({ reason: 'Protocol', message });
  }
}

/** An upload that the registry forgot, or whose end it sees elsewhere, may go on from where it stands. */
function retried(error: unknown): unknown {
  if (mayPass(error) || !(error instanceof RegistryError)) return error;
  const again =
    error.status === 416 || error.codes.includes('BLOB_UPLOAD_UNKNOWN') || error.codes.includes('RANGE_INVALID');
  const { message, status, codes } = error;
  return again ? new RegistryError({ reason: 'Server', message, status, codes, cause: error }) : error;
}

/** Puts a manifest or an index under its tag and digest; gives its descriptor once the registry has named the same digest. */
export async function pushManifest(
  registry: Registry,
  reference: Reference,
  { bytes, mediaType }: { bytes: Buffer; mediaType: string },
  { signal }: Bounded = {},
): Promise<Descriptor> {
  const descriptor = { mediaType, digest: digestOf(bytes), size: bytes.length };
  const to = `manifests/${reference.tag ?? selector({ ...reference, digest: descriptor.digest })}`;
  const body = { length: bytes.length, open: () => bytes };
  const headers = { 'content-type': mediaType };
  const ask = { method: 'PUT', place: reference, to, actions: 'pull,push', headers, body, signal } as const;
  const answer = await registry.patiently(() => registry.expect(ask, 200, 201), signal);
  await answer.body.discard();
  const said = header(answer, 'docker-content-digest');
  if (said !== undefined && said !== descriptor.digest)
    throw new RegistryError({ reason: 'Digest', message: `${reference.host} took the manifest as ${said}` });
  return descriptor;
}
