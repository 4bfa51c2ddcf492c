// The digest of what was fetched. Of one file it is the file's own. Of several it is that of the list which `sha256sum`
// prints for them, sorted by path, so that everybody can compute it without us.

import { createHash } from 'node:crypto';
import type { Fetched } from './fetch/item.ts';

type Hashed = Pick<Fetched, 'path' | 'sha256'>;

/** `sha256:...` of one file or of several. */
export function digestOf(files: readonly Hashed[]): string {
  const [only, ...others] = files;
  if (only && others.length === 0) return `sha256:${only.sha256}`;
  const lines = files
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
    .map(({ path, sha256 }) => `${sha256}  ${path}\n`);
  return `sha256:${createHash('sha256').update(lines.join('')).digest('hex')}`;
}
