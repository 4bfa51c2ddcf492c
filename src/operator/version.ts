// The version of the operator, from the one place where it is written.

import manifest from '../../package.json' with { type: 'json' };

/** Like 0.1.0. */
export const version: string = manifest.version;
