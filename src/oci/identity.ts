// Who we are at registries, and whom we trust, from the Secrets of a pod: the keys of one Secret of our own, and Docker
// configurations as pull secrets hold them. What stands in our own goes first; then the first that knows the registry.

import { type Credential, type Credentials, dockerCredentials } from './credentials.ts';

export interface Identity {
  credentials: Credentials;
  /** An authority to trust beside the usual ones. */
  ca?: string;
}

/** The identity in the keys of a Secret and in the texts of Docker configurations. */
export function identityOf(keys: Readonly<Record<string, string>>, configs: readonly string[]): Identity {
  const own = ownCredential(keys);
  const known = configs.map(dockerCredentials);
  const ca = keys['ca.crt'];
  return {
    credentials: (place) => own ?? known.map((config) => config(place)).find((one) => one !== undefined),
    ...(ca !== undefined && { ca }),
  };
}

/** A name with its password, or a token that the registry itself takes. Editors leave a line break behind. */
function ownCredential({ username, password, token }: Readonly<Record<string, string>>): Credential | undefined {
  if (username !== undefined && password !== undefined) return { username: username.trim(), password: password.trim() };
  return token === undefined ? undefined : { registryToken: token.trim() };
}
