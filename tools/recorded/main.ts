// Looks at a whole test run from outside, after it: `node tools/recorded/main.ts build/run`. The permissions used are those
// granted, and no Secret's value is in anything that the operator or a program of ours wrote.

import { createReadStream, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import { requestsFile } from '../../controlplane/index.ts';
import { exceptions, type GrantedRule, grantedBy, unused, usedBy } from './permissions.ts';
import type { Recorded } from './request.ts';
import { type Canary, canariesIn, isTooShort, Search, writtenBy } from './secrets.ts';

const [folder = 'build/run'] = process.argv.slice(2);
const root = join(import.meta.dirname, '..', '..');
const rolesOf = (file: string) =>
  (parse(readFileSync(join(root, 'deploy', 'rbac', file), 'utf8')) as { rules: GrantedRule[] }).rules;
const granted = new Set(grantedBy(['baton.clusterrole.yaml', 'baton-lease.role.yaml'].flatMap(rolesOf)));

const requests = globSync(join(folder, '**', requestsFile));
const logs = [...globSync(join(folder, '**', 'operator*.log')), ...globSync(join(folder, '**', 'pods', '*.log'))];

/** Calls back for every line of these files. */
async function eachLine(files: readonly string[], see: (line: string, file: string) => void): Promise<void> {
  for (const file of files)
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) see(line, file);
}

const used = new Set<string>();
const canaries = new Map<string, Canary>();
await eachLine(requests, (line) => {
  const request = JSON.parse(line) as Recorded;
  for (const right of usedBy(request)) used.add(right);
  for (const canary of canariesIn(request)) canaries.set(canary.value, canary);
});

const wrong = new Set(unused(granted, used, Object.keys(exceptions)));
for (const canary of canaries.values())
  if (isTooShort(canary)) wrong.add(`too short to be looked for: ${canary.owner} (give it 8 characters)`);

const search = new Search([...canaries.values()].filter((canary) => !isTooShort(canary)));
const look = (text: string | undefined, file: string) => {
  const owner = text === undefined ? undefined : search.ownerIn(text);
  if (owner !== undefined) wrong.add(`a value of ${owner} is in ${relative(folder, file)}: ${text?.slice(0, 300)}`);
};
await eachLine(requests, (line, file) => look(writtenBy(JSON.parse(line) as Recorded), file));
await eachLine(logs, look);

if (requests.length === 0) wrong.add(`nothing was kept in ${folder}: run the suites with BATON_KEEP=${folder}`);
if (canaries.size === 0) wrong.add('no suite made a Secret');
process.stdout.write(
  `${used.size} permissions used of ${granted.size} granted (${Object.keys(exceptions).length} excepted); ` +
    `${canaries.size} values of Secrets looked for in ${requests.length + logs.length} files\n`,
);
for (const one of wrong) process.stderr.write(`${one}\n`);
process.exitCode = wrong.size > 0 ? 1 : 0;
