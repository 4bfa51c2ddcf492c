// Puts the settings together: flags go before variables, variables before the file, the file before what comes with the
// operator. A name that does not exist is an error with the nearest one that does: a setting that is silently without
// effect is found only when it is needed. All that is wrong is said at once.

import { parseArgs } from 'node:util';
import { exposureFrom } from './exposure.ts';
import { parsed } from './forms.ts';
import { suggestion } from './nearest.ts';
import { flagOf, settingList, type Settings, variableOf } from './settings.ts';

/** What the settings are read from. */
export interface Sources {
  /** The arguments after the name of the program. */
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Reads a file, or throws. */
  read: (path: string) => string;
}

/** What somebody asked the program for. */
export type Asked = { run: Settings } | { tell: 'help' | 'version' } | { wrong: readonly string[] };

/** One value as it was given: for which setting, where, and what. */
interface Given {
  key: string;
  where: string;
  value: unknown;
}

interface Found {
  given: Given[];
  wrong: string[];
}

/** Variables that begin like ours and are somebody else's: the cache of the control plane's programs. */
const foreign = new Set(['BATON_CACHE']);
const keys = settingList.map(([key]) => key);

/** The settings, or everything that is wrong with them. */
export function readSettings({ args, env, read }: Sources): Asked {
  const { given: flags, wrong: wrongFlags, tell } = fromFlags(args);
  if (tell) return { tell };
  const variables = fromVariables(env);
  const said = [...flags, ...variables.given];
  const file = fromFile(said.find(({ key }) => key === 'config')?.value, read);
  const { values, wrong: wrongValues } = valuesOf([...said, ...file.given]);
  const wrong = [...wrongFlags, ...variables.wrong, ...file.wrong, ...wrongValues];
  if (wrong.length > 0) return { wrong };
  const run = values as Settings;
  const exposure = exposureFrom(run);
  return 'wrong' in exposure ? { wrong: [exposure.wrong] } : { run };
}

/** The last of a flag that is given twice counts, as everywhere. */
function fromFlags(args: readonly string[]): Found & { tell?: 'help' | 'version' } {
  const options = Object.fromEntries(keys.map((key) => [flagOf(key), { type: 'string' as const }]));
  const flags = [...Object.keys(options), 'help', 'version'];
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const given: Given[] = [];
  const wrong: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') wrong.push(`"${token.value}" is not expected: settings are --name=value`);
    if (token.kind !== 'option') continue;
    if (token.name === 'help' || token.name === 'h') return { given, wrong, tell: 'help' };
    if (token.name === 'version') return { given, wrong, tell: 'version' };
    const key = keys.find((one) => flagOf(one) === token.name);
    const known = flags.map((name) => `--${name}`);
    if (key === undefined) wrong.push(`${token.rawName} is no flag${suggestion(token.rawName, known)}`);
    else if (token.value === undefined) wrong.push(`--${token.name} needs a value: --${token.name}=...`);
    else given.unshift({ key, where: `--${token.name}`, value: token.value });
  }
  return { given, wrong };
}

/** An empty variable is one that is not set. */
function fromVariables(env: Sources['env']): Found {
  const known = keys.map(variableOf);
  const ours = Object.keys(env).filter((name) => name.startsWith('BATON_') && !foreign.has(name));
  return {
    given: keys.flatMap((key) => {
      const value = env[variableOf(key)];
      return value ? [{ key, where: variableOf(key), value }] : [];
    }),
    wrong: ours
      .filter((name) => !known.includes(name))
      .map((name) => `the variable ${name} is no setting${suggestion(name, known)}`),
  };
}

function fromFile(path: unknown, read: Sources['read']): Found {
  if (typeof path !== 'string') return { given: [], wrong: [] };
  const content = contentOf(path, read);
  if ('wrong' in content) return { given: [], wrong: [content.wrong] };
  const known = keys.filter((key) => key !== 'config');
  const entries = Object.entries(content.object).filter(([, value]) => value !== null);
  return {
    given: entries.flatMap(([key, value]) => (known.includes(key) ? [{ key, where: `${path}: ${key}`, value }] : [])),
    wrong: entries
      .filter(([key]) => !known.includes(key))
      .map(([key]) => `${path}: ${key} is no setting${suggestion(key, known)}`),
  };
}

/** A file of comments alone says nothing, which is allowed. */
function contentOf(path: string, read: Sources['read']): { object: object } | { wrong: string } {
  try {
    const content = parsed(read(path));
    if (content === null) return { object: {} };
    const isObject = typeof content === 'object' && !Array.isArray(content);
    return isObject ? { object: content } : { wrong: `${path}: is not YAML or JSON with one setting a key` };
  } catch (error) {
    return { wrong: `${path}: cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})` };
  }
}

/** What was said first about a setting counts; what is said about it elsewhere must make sense all the same. */
function valuesOf(given: readonly Given[]): { values: Record<string, unknown>; wrong: string[] } {
  const values: Record<string, unknown> = {};
  const wrong: string[] = [];
  for (const [key, { form, initial }] of settingList) {
    const readings = given
      .filter((one) => one.key === key)
      .map(({ where, value }) => ({ where, result: form.read(value) }));
    wrong.push(...readings.flatMap(({ where, result }) => ('wrong' in result ? [`${where}: ${result.wrong}`] : [])));
    const [first] = readings;
    values[key] = first && 'value' in first.result ? first.result.value : initial;
  }
  return { values, wrong };
}
