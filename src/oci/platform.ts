// Which manifest of an index is meant for a machine.

import type { Descriptor, Index, Platform } from './manifest.ts';
import { RegistryError } from './errors.ts';

/** Entries that describe images; builders add attestations, which are for no platform. */
export const images = ({ manifests }: Index): Descriptor[] =>
  manifests.filter(
    ({ platform, annotations }) =>
      platform?.os !== 'unknown' && annotations?.['vnd.docker.reference.type'] === undefined,
  );

/** The entry for a platform: the named variant first, then one without any; an index of one image needs to name none. */
export function choose(index: Index, wanted: Platform): Descriptor {
  const candidates = images(index);
  const fitting = candidates.filter(({ platform }) => platform && fits(platform, wanted));
  const exact = fitting.find(({ platform }) => platform?.variant === wanted.variant);
  const only = candidates.length === 1 && !candidates[0]?.platform ? candidates[0] : undefined;
  const found = exact ?? fitting[0] ?? only;
  if (found) return found;
  const there = candidates.map(({ platform }) => (platform ? named(platform) : 'unnamed')).join(', ');
  throw new RegistryError({
    reason: 'NotFound',
    message: `there is no image for ${named(wanted)}; there is ${there || 'none at all'}`,
  });
}

const fits = (offered: Platform, wanted: Platform): boolean =>
  offered.os === wanted.os &&
  offered.architecture === wanted.architecture &&
  (wanted.variant === undefined || offered.variant === undefined || offered.variant === wanted.variant);

/** A platform as people write it. */
export const named = ({ os, architecture, variant }: Platform): string =>
  [os, architecture, ...(variant === undefined ? [] : [variant])].join('/');

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** The platform of a Node process, by the words that images use. */
export const platformOf = ({ platform, arch }: { platform: string; arch: string }): Platform => ({
  os: platform,
  architecture: architectures[arch] ?? arch,
});
