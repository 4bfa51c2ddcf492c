// Which kind of source a URL names.

import { Refused } from '../outcome.ts';
import { lookAtUrl } from './http.ts';
import { lookAtHub } from './hub.ts';
import { lookAtImage } from './image.ts';
import { lookAtBucket } from './s3.ts';
import type { Look } from './source.ts';

const looks: Readonly<Record<string, Look>> = {
  http: lookAtUrl,
  https: lookAtUrl,
  s3: lookAtBucket,
  hf: lookAtHub,
  oci: lookAtImage,
};

/** Looks at any source. */
export const lookAt: Look = (wanted, means) => {
  const [, scheme = ''] = /^([a-z0-9]+):\/\//.exec(wanted.url) ?? [];
  const look = looks[scheme];
  if (look) return look(wanted, means);
  const said = scheme === '' ? 'modelURL names no way to download' : `${scheme}: is no way to download`;
  return Promise.reject(new Refused('EgressDenied', `${said}: use http, https, s3, hf or oci`));
};
