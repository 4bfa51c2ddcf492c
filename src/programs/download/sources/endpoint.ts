// Places that a person wrote into a Secret. They are read before anything is built from them, so that a slip is told by the
// name of its key and not by what a URL made of it looks like.

import { Refused } from '../outcome.ts';

/** The key `endpoint` as the beginning of a URL, by TLS where it names no way. `{bucket}` may stand in it. */
export function endpointIn(text: string): string {
  const whole = /^[a-z0-9+.-]+:\/\//i.test(text) ? text : `https://${text}`;
  const filled = whole.replace('{bucket}', 'bucket');
  const isPlace = /^https?:\/\/[^/?#@\s]+(?:\/[^?#\s]*)?$/i.test(filled) && URL.canParse(filled);
  if (!isPlace) throw wrongKey('endpoint', 'is no URL of a server, such as https://models.example.com');
  return whole.replace(/\/+$/, '');
}

/** The key `region`; without an endpoint it becomes part of a host's name. */
export function regionIn({ region = 'us-east-1', endpoint }: { region?: string; endpoint?: string }): string {
  const form = endpoint === undefined ? /^[a-z0-9-]{1,64}$/ : /^[\w.-]{1,64}$/;
  if (!form.test(region)) throw wrongKey('region', 'is no name of a region, such as eu-west-1');
  return region;
}

/** The value is not told: it may be another key's. */
const wrongKey = (key: string, why: string): Refused =>
  new Refused('SourceUnauthorized', `the key ${key} of the Secret that credentials names ${why}`);
