// Names by content. A digest decides what a blob is, so it is checked before it is used (it becomes part of a path) and
// again over every byte that came, wherever the byte came from.

import { createHash, type Hash } from 'node:crypto';
import { RegistryError } from './errors.ts';

const lengths: Readonly<Record<string, number>> = { sha256: 64, sha512: 128 };

/** Whether a text is a digest that we can check: sha256 or sha512, in lower case. */
export function isDigest(text: string): boolean {
  const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([0-9a-f]+)$/.exec(text) ?? [];
  return hex.length > 0 && lengths[algorithm] === hex.length;
}

/** The two halves of a digest; throws when it is none, because one half becomes the name of a file. */
export function partsOf(digest: string): { algorithm: string; hex: string } {
  if (!isDigest(digest)) throw new RegistryError({ reason: 'Protocol', message: `"${digest}" is not a digest` });
  const [algorithm = '', hex = ''] = digest.split(':');
  return { algorithm, hex };
}

/** The digest of some bytes. */
export const digestOf = (bytes: Uint8Array | string): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** What is known of content before it is there. */
export interface Expected {
  digest: string;
  size: number;
}

/** Judges bytes as they come. */
export interface Judge {
  /** Bytes so far. */
  readonly size: number;
  /** Bytes that are still to come. */
  readonly missing: number;
  take(bytes: Uint8Array): void;
  /** Throws unless everything came and is what it should be. */
  finish(): void;
}

/** Counts bytes on their way, and refuses more than there should be at once; what they are is looked at elsewhere. */
export class Count implements Judge {
  protected readonly expected: Expected;
  #size = 0;

  constructor(expected: Expected) {
    this.expected = expected;
  }

  get size(): number {
    return this.#size;
  }

  get missing(): number {
    return this.expected.size - this.#size;
  }

  take(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.missing < 0) throw this.wrong(`more than the ${this.expected.size} bytes that it should have`);
  }

  finish(): void {
    if (this.missing !== 0) throw this.wrong(`${this.#size} bytes instead of ${this.expected.size}`);
  }

  /** Throws unless this, in hexadecimal, is the digest. */
  compare(found: string): void {
    if (!this.expected.digest.endsWith(`:${found}`)) throw this.wrong(`other content (${found})`);
  }

  protected wrong(what: string): RegistryError {
    return new RegistryError({ reason: 'Digest', message: `${this.expected.digest} has ${what}` });
  }
}

/** Counts and hashes bytes on their way. */
export class Check extends Count {
  readonly #hash: Hash;

  constructor(expected: Expected) {
    super(expected);
    this.#hash = createHash(partsOf(expected.digest).algorithm);
  }

  override take(bytes: Uint8Array): void {
    super.take(bytes);
    this.#hash.update(bytes);
  }

  override finish(): void {
    super.finish();
    this.compare(this.#hash.digest('hex'));
  }
}

/** The same bytes, which end with an error when they are not what was expected. */
export async function* checked<T extends Uint8Array>(bytes: AsyncIterable<T>, expected: Expected): AsyncGenerator<T> {
  const check = new Check(expected);
  for await (const piece of bytes) {
    check.take(piece);
    yield piece;
  }
  check.finish();
}
