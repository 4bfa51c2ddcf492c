// What a download is told, read from its arguments. The operator writes them with `downloadArguments`; what a user wrote
// stands behind `--`. The others are for trials, and for people who run the program by hand.

import { parseArgs } from 'node:util';
import { accessFlags, heardAccess } from '../../api/contract.ts';
import { egressRules } from '../../base/index.ts';
import type { Pace } from './fetch/meter.ts';

/** A download. */
export interface Order {
  url: string;
  /** Where the volume is mounted. */
  target: string;
  framework: string;
  digest: string | undefined;
  /** Folders of mounted Secrets. */
  credentials: string;
  pullSecrets: string;
  deny: readonly string[];
  /** Addresses that may be reached though they never should be: for trials on one machine. */
  allow: readonly string[];
  plainHttp: readonly string[];
  /** Connections at once. */
  lanes: number;
  pace: Pace;
  /** Milliseconds until a connection must be ready. */
  connect: number;
  /** Milliseconds without a byte after which a connection counts as lost. */
  stall: number;
  /** Milliseconds for everything. */
  deadline: number;
  terminationLog: string;
}

const flags = {
  ...accessFlags,
  target: { type: 'string' },
  framework: { type: 'string' },
  digest: { type: 'string' },
  allow: { type: 'string' },
  connections: { type: 'string', default: '4' },
  'least-rate': { type: 'string', default: '10240' },
  'rate-window': { type: 'string', default: '60' },
  connect: { type: 'string', default: '15' },
  stall: { type: 'string', default: '30' },
  deadline: { type: 'string', default: '86400' },
  'termination-log': { type: 'string', default: '/dev/termination-log' },
} as const;

/** The order in arguments, with or without the word `download` before them; or what is wrong with them, in words. */
export function heardDownload(args: readonly string[]): { order: Order } | { wrong: string } {
  try {
    const rest = args[0] === 'download' ? args.slice(1) : [...args];
    const { values, positionals } = parseArgs({ args: rest, options: flags, allowPositionals: true });
    const [url, ...more] = positionals;
    if (url === undefined || more.length > 0) return { wrong: 'one URL must be named, behind --' };
    return { order: orderOf(url, values) };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : 'the arguments cannot be read' };
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof flags }>>['values'];

function orderOf(url: string, values: Values): Order {
  const { target, framework, digest, allow } = values;
  if (target === undefined || framework === undefined) throw new Error('--target and --framework must be given');
  if (digest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error('--digest must be sha256: and 64 digits in lower case');
  const access = heardAccess(values);
  const addresses = { deny: access.deny ?? [], allow: allow === undefined ? [] : allow.split(',') };
  egressRules(addresses);
  return {
    url,
    target,
    framework,
    digest,
    credentials: access.credentials ?? '/credentials',
    pullSecrets: access.pullSecrets ?? '/pull-secrets',
    ...addresses,
    plainHttp: access.plainHttp ?? [],
    lanes: number(values.connections, 'connections', 64),
    pace: { least: number(values['least-rate'], 'least-rate'), window: number(values['rate-window'], 'rate-window') },
    connect: 1_000 * number(values.connect, 'connect'),
    stall: 1_000 * number(values.stall, 'stall'),
    deadline: 1_000 * number(values.deadline, 'deadline'),
    terminationLog: values['termination-log'],
  };
}

function number(text: string, flag: string, most = 2 ** 31): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new Error(`--${flag} must be a whole number from 1 to ${most}`);
  return value;
}
