// One look, from the order to the last word.

import { type InspectOrder, type LastWord, type SourceAccess } from '../../api/index.ts';
import { type Clock, egressRules, NoCertificate, wordsOf } from '../../base/index.ts';
import { type Identity, identityOf } from '../../oci/index.ts';
import { digestAt, lookAt } from './look.ts';
import { openRegistry } from './registry.ts';

/** What the program finds around itself. */
export interface Surroundings {
  clock: Clock;
  random: () => number;
  /** The files of a folder by name; none if there is no such folder. */
  files: (folder: string) => Readonly<Record<string, string>>;
  /** Where the API server answers. */
  apiServer: readonly string[];
  /** Addresses that may be reached though they never should be; only for trials on one machine. */
  allow?: readonly string[];
}

/** Looks, and says what was found. */
export async function runInspect({ url, access, only }: InspectOrder, around: Surroundings): Promise<LastWord> {
  const { deny = [], plainHttp = [] } = access;
  const identity = identityIn(access, around);
  if ('result' in identity) return identity;
  try {
    const rules = egressRules({ ...around, deny });
    await using registry = openRegistry({ ...around, rules, plainHttp, ...identity });
    const looked = only === 'digest' ? await digestAt(registry, url) : await lookAt(registry, url);
    if ('digest' in looked) return { result: 'done', bytes: 0, ...looked };
    return { result: 'verdict', verdict: looked.refused, message: looked.message };
  } catch (error) {
    const message = wordsOf(error);
    return error instanceof NoCertificate
      ? { result: 'verdict', verdict: 'SourceTLSError', message }
      : { result: 'fault', message };
  }
}

/** A Secret that cannot be read stays so until somebody mends it. */
function identityIn({ credentials, pullSecrets }: SourceAccess, { files }: Surroundings): Identity | LastWord {
  try {
    const keys = credentials === undefined ? {} : files(credentials);
    return identityOf(keys, pullSecrets === undefined ? [] : Object.values(files(pullSecrets)));
  } catch (error) {
    return { result: 'verdict', verdict: 'SourceUnauthorized', message: wordsOf(error) };
  }
}
