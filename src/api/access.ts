// How a program in a pod gets at a source that somebody named, and the arguments of `inspect`, which needs nothing else.
// Written on one side and read on the other by the functions below; what a user wrote stands behind `--`.

import { parseArgs } from 'node:util';

/** How a program gets at a source. Paths are folders of the pod. */
export interface SourceAccess {
  /** A mounted Secret with the keys of `spec.credentials`. */
  credentials?: string;
  /** Docker configurations, one file each, as the pull secrets of a model hold them; only for images. */
  pullSecrets?: string;
  /** Ranges of addresses that must not be reached, beside those that never are. */
  deny?: readonly string[];
  /** Registries that are spoken to without TLS, with their ports. */
  plainHttp?: readonly string[];
}

/** The flags of an access, for whoever reads arguments. */
export const accessFlags = {
  credentials: { type: 'string' },
  'pull-secrets': { type: 'string' },
  deny: { type: 'string' },
  'plain-http': { type: 'string' },
} as const;

/** An access as arguments. */
export const accessArguments = ({ credentials, pullSecrets, deny = [], plainHttp = [] }: SourceAccess): string[] => [
  ...(credentials === undefined ? [] : [`--credentials=${credentials}`]),
  ...(pullSecrets === undefined ? [] : [`--pull-secrets=${pullSecrets}`]),
  ...(deny.length === 0 ? [] : [`--deny=${deny.join(',')}`]),
  ...(plainHttp.length === 0 ? [] : [`--plain-http=${plainHttp.join(',')}`]),
];

/** The access in the values of these flags. */
export function heardAccess(
  values: { readonly [flag in keyof typeof accessFlags]?: string | undefined },
): SourceAccess {
  const { credentials, 'pull-secrets': pullSecrets, deny, 'plain-http': plainHttp } = values;
  return {
    ...(credentials !== undefined && { credentials }),
    ...(pullSecrets !== undefined && { pullSecrets }),
    ...(deny !== undefined && { deny: deny.split(',') }),
    ...(plainHttp !== undefined && { plainHttp: plainHttp.split(',') }),
  };
}

/** What `inspect` is told: an image to look at, and how. */
export interface InspectOrder {
  url: string;
  access: SourceAccess;
  /** Only what the name means now is asked, not what the image is like. */
  only?: 'digest';
}

const inspectFlags = { ...accessFlags, 'only-digest': { type: 'boolean' } } as const;

/** The arguments of `inspect`. */
export const inspectArguments = ({ url, access, only }: InspectOrder): string[] => [
  'inspect',
  ...(only === undefined ? [] : ['--only-digest']),
  ...accessArguments(access),
  '--',
  url,
];

/** The order in arguments, with or without the word `inspect` before them; or what is wrong with them, in words. */
export function heardInspect(args: readonly string[]): { order: InspectOrder } | { wrong: string } {
  try {
    const rest = args[0] === 'inspect' ? args.slice(1) : [...args];
    const { values, positionals } = parseArgs({ args: rest, options: inspectFlags, allowPositionals: true });
    const [url, ...more] = positionals;
    if (url === undefined || more.length > 0) return { wrong: 'one image must be named, behind --' };
    return { order: { url, access: heardAccess(values), ...(values['only-digest'] && { only: 'digest' }) } };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : 'the arguments cannot be read' };
  }
}

/** The API server as every pod is told of it. */
export function apiServerIn(environment: Readonly<Record<string, string | undefined>>): string[] {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  return host === undefined ? [] : [host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`];
}
