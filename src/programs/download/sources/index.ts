// Which kind of source a URL names. Only the code of that kind is loaded: registries alone bring as much as all the rest.

import { Refused } from '../outcome.ts';
import { lookAtUrl } from './http.ts';
import type { Look } from './source.ts';

const looks: Readonly<Record<string, () => Promise<Look>>> = {
  http: async () => lookAtUrl,
  https: async () => lookAtUrl,
  s3: async () => (await import('./s3.ts')).lookAtBucket,
  hf: async () => (await import('./hub.ts')).lookAtHub,
  oci: async () => (await import('./image.ts')).lookAtImage,
};

/** Looks at any source. */
export const lookAt: Look = async (wanted, means) => {
  const [, scheme = ''] = /^([a-z0-9]+):\/\//.exec(wanted.url) ?? [];
  const look = await looks[scheme]?.();
  if (look) return look(wanted, means);
  const said = scheme === '' ? 'modelURL names no way to download' : `${scheme}: is no way to download`;
  throw new Refused('EgressDenied', `${said}: use http, https, s3, hf or oci`);
};
