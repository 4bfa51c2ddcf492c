// The settings in words: for `--help`, for the page in docs/spec, and for the ConfigMap that an installation starts with.

import { flagOf, type Setting, settingList, variableOf } from './settings.ts';

const usage = `Usage: node src/operator/main.ts [--name=value ...]

Runs the operator until SIGTERM or SIGINT. A flag goes before its variable, a variable before the file that --config
names. Outside a pod a cluster must be named, by --kubeconfig or --context.

`;

/** What \`--help\` prints. */
export const help = (): string =>
  usage + settingList.map(([key, setting]) => paragraph(key, setting)).join('') + '  --help, --version\n';

const paragraph = (key: string, setting: Setting<unknown>): string =>
  [
    `  --${flagOf(key)}=${setting.form.written}`,
    `      ${setting.about}`,
    `      Default: ${setting.initially}. ${variableOf(key)}${key === 'config' ? '' : `, in the file ${key}`}`,
    '',
  ].join('\n');

/** All settings as a table in Markdown. */
export function table(): string {
  const rows = settingList.map(([key, setting]) => {
    const flag = `\`--${flagOf(key)}\``;
    const inFile = key === 'config' ? '–' : `\`${key}\``;
    const form = `\`${setting.form.written.replaceAll('|', '\\|')}\``;
    return `| ${flag} | \`${variableOf(key)}\` | ${inFile} | ${form} | ${setting.initially} | ${setting.about} |`;
  });
  return ['| flag | variable | in the file | form | default | meaning |', '|---|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

/** Settings that an installation decides itself, by flags and variables of its Deployment. */
const decided = new Set(['config', 'kubeconfig', 'context', 'healthAddress', 'image']);

/** A file in which nothing is set yet, and everything that could be is named. */
export const emptyFile = (): string =>
  settingList
    .filter(([key]) => !decided.has(key))
    .map(([key, setting]) => `# ${setting.about}\n# ${key}: ${setting.form.written}  (${setting.initially})\n`)
    .join('\n');
