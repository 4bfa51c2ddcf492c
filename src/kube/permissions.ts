// What a definition needs, asked of the API server itself before the first pass: a missing permission is named with
// what to do about it, instead of being met in the middle of somebody's rollout.

import type { Client } from './client/index.ts';
import type { Rule } from './define.ts';

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** The rules that are not granted, one text for each verb and resource, in these namespaces or everywhere. */
export async function missingPermissions(
  client: Client,
  rules: readonly Rule[],
  namespaces: readonly (string | undefined)[],
): Promise<string[]> {
  const asked = namespaces.flatMap((namespace) =>
    rules.flatMap(({ group, resource, verbs }) => verbs.map((verb) => ({ namespace, group, resource, verb }))),
  );
  const answers = await Promise.all(asked.map(async (one) => ((await allowed(client, one)) ? [] : [words(one)])));
  return answers.flat();
}

interface Asked {
  namespace: string | undefined;
  group: string;
  resource: string;
  verb: string;
}

async function allowed(client: Client, { namespace, group, resource: path, verb }: Asked): Promise<boolean> {
  const [resource, subresource] = path.split('/');
  const resourceAttributes = { namespace, group, resource, subresource, verb };
  const body = JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  });
  const { text } = await client.raw('POST', reviews, { body, contentType: 'application/json' });
  return (JSON.parse(text) as { status?: { allowed?: boolean } }).status?.allowed === true;
}

function words({ namespace, group, resource, verb }: Asked): string {
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${namespace}`;
  return `${verb} ${resource}${group === '' ? '' : `.${group}`} ${where}`;
}
