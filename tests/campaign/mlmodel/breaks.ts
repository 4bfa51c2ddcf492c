// A document for every rule of MLModel that it breaks.

import type { Meanings } from '../meaning.ts';
import { asking, podBreaks } from '../podfields.ts';

export const breaks: Meanings['breaks'] = {
  'must not hold a user name or password: name a Secret in credentials': asking({
    modelURL: 'https://me:pw@models.example/a',
  }),
  'must be a quantity greater than zero, such as 10Gi': asking({ storageSize: '0' }),
  'must be at most 1Pi': asking({ storageSize: '2Pi' }),
  'storageSize is required for a model that is downloaded': asking({ storageSize: undefined }),
  'framework custom needs server.image and server.port': asking({ framework: 'custom' }),
  'pvc:// weights are not downloaded: digest, credentials and retain do not apply': asking({
    modelURL: 'pvc://shelf',
    retain: true,
  }),
  'must be pvc://claim or pvc://claim/path, with the name of a claim in the same namespace': asking({
    modelURL: 'pvc://No_Claim/a',
  }),
  'must not lead out of the volume: leave .. out of the path, and begin it at the top of the volume': asking({
    modelURL: 'pvc://shelf/../a',
  }),
  'must be oci://host/repository:tag, or with @sha256:... instead of the tag or behind it': asking({
    modelURL: 'oci://registry.example',
  }),
  'must be the digest that stands in modelURL': asking({
    modelURL: `oci://registry.example/a@sha256:${'a'.repeat(64)}`,
    digest: `sha256:${'b'.repeat(64)}`,
  }),
  'must be the name of an image: registry.example/team/server:tag, or with @sha256:... instead of the tag or behind it':
    asking({ server: { image: 'Not An Image' } }),
  ...podBreaks,
};
