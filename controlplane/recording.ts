// What a run leaves behind for those who look at it as a whole: every request of the operator's account with what it
// wrote, and every Secret that anybody made, so that both can be looked for. The API server writes it down itself, so that
// no suite has to think of it. Only where a run is kept (`BATON_KEEP`): the lines hold the values of Secrets.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const writing = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const operators = { userGroups: ['system:serviceaccounts:baton-system'] };

/** A watch is told when it begins: it may still go on when the API server is killed. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  omitManagedFields: true,
  rules: [
    { ...operators, level: 'Request', verbs: writing },
    { ...operators, level: 'Metadata' },
    { level: 'Request', verbs: writing, resources: [{ group: '', resources: ['secrets'] }] },
    { level: 'None' },
  ],
};

/** The file of a control plane that has the requests, one JSON object a line. */
export const requestsFile = 'requests.jsonl';

const policyFile = (folder: string): string => join(folder, 'recording.json');

/** Writes what the API server has to read for it. */
export const writePolicy = (folder: string): void => writeFileSync(policyFile(folder), JSON.stringify(policy));

/** The flags of an API server that writes it down. What waited to be written would be lost with one that is killed. */
export const recording = (folder: string): string[] => [
  `--audit-policy-file=${policyFile(folder)}`,
  `--audit-log-path=${join(folder, 'logs', requestsFile)}`,
  '--audit-log-maxsize=4096',
  '--audit-log-mode=blocking',
];
