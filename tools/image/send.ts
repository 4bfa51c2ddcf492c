// Sends a built image into a registry, to which only what is missing there goes.

import { systemClock } from '../../src/base/index.ts';
import { type Credentials, push, type Reference, Registry, written } from '../../src/oci/index.ts';
import type { BuiltImage } from './assemble.ts';

/** Where an image goes, and how. */
export interface Sending {
  to: Reference;
  /** The registry speaks no TLS. */
  plain: boolean;
  credentials: Credentials;
  say: (line: string) => void;
}

/** A size, for people. */
export const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Sends it, and says for each blob how it came there. */
export async function sendImage(
  { layout, image }: BuiltImage,
  { to, plain, credentials, say }: Sending,
): Promise<void> {
  const plainHttp = plain ? [to.host] : [];
  await using registry = new Registry({ clock: systemClock, random: Math.random, credentials, plainHttp });
  const onBlob = ({ digest, size }: { digest: string; size: number }, how: string) =>
    say(`${how} ${digest.slice(0, 19)} ${megabytes(size)}`);
  const { digest } = await push(registry, layout, { image, to, onBlob });
  say(`pushed ${written({ ...to, digest })}`);
}
