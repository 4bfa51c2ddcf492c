// A file at a URL.

import { authorizeBy } from '../credentials.ts';
import { Refused } from '../outcome.ts';
import { pathOf } from '../unpack/index.ts';
import type { Look } from './source.ts';

/** One file; its name is the last part of the path. */
export const lookAtUrl: Look = async ({ url: text }, { secrets }) => {
  if (!URL.canParse(text)) throw new Refused('SourceNotFound', 'modelURL is no URL that can be read');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw new Refused('SourceUnauthorized', 'modelURL holds a user name or password: name a Secret in credentials');
  url.hash = '';
  return { items: [{ path: nameIn(url), url, authorize: authorizeBy(secrets), becomes: { as: 'anything' } }] };
};

/** A name that can be one of a file; `download` where the URL has none. */
function nameIn({ pathname }: URL): string {
  const last = pathname.split('/').at(-1) ?? '';
  const read = pathOf(decoded(last));
  return 'path' in read && read.path !== '' && !read.path.includes('/') ? read.path : 'download';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
