// Where an image is: `host[:port]/repository[:tag][@digest]`, also with `oci://` before it. There is no default host: a
// name without one means different registries to different programs.

import { hub } from './credentials.ts';
import { isDigest } from './digest.ts';

/** A repository of a registry. */
export interface Place {
  /** With its port, if it has one. */
  host: string;
  repository: string;
}

/** An image in a repository. By digest if there is one; the tag then only says what was meant. */
export interface Reference extends Place {
  tag?: string;
  digest?: string;
}

const hostForm = /^(?:\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?)(?::\d{1,5})?$/;
const partForm = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tagForm = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const longestName = 255;

/** Reads a reference; without tag and digest the tag is `latest`. */
export function readReference(text: string): { reference: Reference } | { wrong: string } {
  const wrong = (why: string) => ({ wrong: `"${shown(text)}" is not an image: ${why}` });
  const [name = '', digest, ...rest] = text.replace(/^oci:\/\//, '').split('@');
  const slash = name.indexOf('/');
  if (slash <= 0) return wrong('write it as host/repository:tag');
  const host = name.slice(0, slash);
  const colon = name.indexOf(':', slash);
  const repository = name.slice(slash + 1, colon < 0 ? undefined : colon);
  const tag = colon < 0 ? undefined : name.slice(colon + 1);
  const fault = hostFault(host) ?? repositoryFault(host, repository) ?? tagFault(tag) ?? digestFault(digest, rest);
  if (fault !== undefined) return wrong(fault);
  const isHub = host === hub.name || host === hub.key;
  const place = isHub ? { host: hub.name, repository: inHub(repository) } : { host, repository };
  const asked = { ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
  return { reference: { ...place, ...((tag ?? digest) === undefined ? { tag: 'latest' } : asked) } };
}

/** Its own images have a short name there. */
const inHub = (repository: string): string => (repository.includes('/') ? repository : `library/${repository}`);

/** The same for what must be right; the error is for people. */
export function referenceOf(text: string): Reference {
  const read = readReference(text);
  if ('wrong' in read) throw new Error(read.wrong);
  return read.reference;
}

function hostFault(host: string): string | undefined {
  if (!/[.:]/.test(host) && host !== 'localhost')
    return `"${host}" is not a host; the registry must be named, like registry.example/${host}/...`;
  if (!hostForm.test(host)) return `"${host}" is not a host`;
  const port = /:(\d+)$/.exec(host)?.[1];
  return port !== undefined && (Number(port) < 1 || Number(port) > 65_535) ? `${port} is not a port` : undefined;
}

function repositoryFault(host: string, repository: string): string | undefined {
  if (repository === '') return 'the repository is missing behind the host';
  if (/[A-Z]/.test(repository)) return `the repository "${repository}" has upper case letters; registries refuse them`;
  const part = repository.split('/').find((one) => !partForm.test(one));
  if (part !== undefined) return `"${part}" cannot be part of a repository`;
  return host.length + 1 + repository.length > longestName ? `it is longer than ${longestName} characters` : undefined;
}

const tagFault = (tag: string | undefined): string | undefined =>
  tag === undefined || tagForm.test(tag) ? undefined : `"${tag}" is not a tag`;

function digestFault(digest: string | undefined, rest: readonly string[]): string | undefined {
  if (rest.length > 0) return 'there is more than one @';
  if (digest === undefined || isDigest(digest)) return undefined;
  return `"${digest}" is not a digest; write it as sha256: and 64 digits in lower case`;
}

/** A reference in its written form. */
export const written = ({ host, repository, tag, digest }: Reference): string =>
  `${host}/${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;

/** What stands in the path of a request for it. */
export const selector = ({ tag, digest }: Reference): string => digest ?? tag ?? 'latest';

const shown = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}...` : text);
