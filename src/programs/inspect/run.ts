// One look, from the order to the last word.

import { exitCode, type InspectOrder, type LastWord } from '../../api/index.ts';
import { type Clock, egressRules, wordsOf } from '../../base/index.ts';
import { identityOf } from '../../oci/index.ts';
import { lookAt } from './look.ts';
import { openRegistry } from './registry.ts';

/** What the program finds around itself. */
export interface Surroundings {
  clock: Clock;
  random: () => number;
  /** The files of a folder by name; none if there is no such folder. */
  files: (folder: string) => Readonly<Record<string, string>>;
  /** Where the API server answers. */
  apiServer: readonly string[];
}

/** Looks, and says what was found. */
export async function runInspect({ url, access }: InspectOrder, around: Surroundings): Promise<LastWord> {
  try {
    const { credentials, pullSecrets, deny = [], plainHttp = [] } = access;
    const keys = credentials === undefined ? {} : around.files(credentials);
    const configs = pullSecrets === undefined ? [] : Object.values(around.files(pullSecrets));
    const rules = egressRules({ apiServer: around.apiServer, deny });
    await using registry = openRegistry({ ...around, rules, plainHttp, ...identityOf(keys, configs) });
    const looked = await lookAt(registry, url);
    if ('digest' in looked) return { result: 'done', ...looked };
    return { result: 'verdict', verdict: looked.refused, message: looked.message };
  } catch (error) {
    return { result: 'fault', message: wordsOf(error) };
  }
}

/** How the program ends. */
export const codeOf = ({ result }: LastWord): number => exitCode[result];
