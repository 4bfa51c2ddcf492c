// Every value of every Secret that the suites made is a canary: it is looked for in all that the operator and its programs
// wrote. A value that is too short would be found by chance, and fails for that.

import { isByOurRole, isOfSecret, type Recorded } from './request.ts';

const shortest = 8;

/** A value that must be found nowhere, and whose it is. */
export interface Canary {
  value: string;
  owner: string;
}

/** The canaries in a request that wrote a Secret. */
export function canariesIn(request: Recorded): Canary[] {
  const { objectRef, requestObject: body } = request;
  if (!isOfSecret(request) || !body) return [];
  const data = Object.entries((body['data'] ?? {}) as Record<string, string>).map(
    ([key, value]) => [key, Buffer.from(value, 'base64').toString()] as const,
  );
  const texts = Object.entries((body['stringData'] ?? {}) as Record<string, string>);
  return [...data, ...texts].flatMap(([key, value]) => {
    const owner = `Secret ${objectRef?.namespace}/${objectRef?.name ?? nameIn(body)}, key ${key}`;
    return passwordsIn(key, value).map((password) => ({ value: password, owner }));
  });
}

const nameIn = (body: Record<string, unknown>): string =>
  (body['metadata'] as { name?: string } | undefined)?.name ?? '';

/** Of a login to registries only what is secret: addresses and names of users are told to everybody. */
function passwordsIn(key: string, value: string): string[] {
  if (key !== '.dockerconfigjson') return [value];
  const { auths = {} } = JSON.parse(value) as { auths?: Record<string, Record<string, string>> };
  return Object.values(auths).flatMap(({ password, auth, identitytoken }) =>
    [password, auth, identitytoken].filter((one) => one !== undefined),
  );
}

/** Whether it would be found by chance. */
export const isTooShort = ({ value }: Canary): boolean => value.length < shortest;

/** What is looked for: each value as it is, in base64, and as it stands in a URL. */
export class Search {
  private readonly owners = new Map<string, string>();
  private readonly pattern: RegExp | undefined;

  constructor(canaries: readonly Canary[]) {
    for (const { value, owner } of canaries)
      for (const form of [value, Buffer.from(value).toString('base64').replace(/=+$/, ''), encodeURIComponent(value)])
        this.owners.set(form, owner);
    const forms = [...this.owners.keys()].map((form) => form.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
    this.pattern = forms.length > 0 ? new RegExp(forms.join('|')) : undefined;
  }

  /** Whose value a text holds. */
  ownerIn(text: string): string | undefined {
    const found = this.pattern?.exec(text)?.[0];
    return found === undefined ? undefined : this.owners.get(found);
  }
}

/** What a request of the operator wrote; nothing for one that only read. */
export const writtenBy = (request: Recorded): string | undefined =>
  isByOurRole(request) && request.requestObject ? JSON.stringify(request.requestObject) : undefined;
