// Which addresses may be reached on behalf of somebody who wrote a URL. Some never: those that mean this machine or its
// neighbours, and those behind which clouds keep credentials. An IPv6 address that carries an IPv4 one is judged by both.

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses, on every port or on one. */
interface Range {
  text: string;
  network: [Address, number];
  port?: number;
}

/** What is forbidden beside what always is, and what is allowed all the same. */
export type EgressRules = Readonly<Record<'apiServer' | 'deny' | 'allow', readonly Range[]>>;

/** Ranges as settings write them: `10.0.0.0/8`, `10.0.0.1`, `10.0.0.1:6443`, `[fd00::1]:6443`. */
export interface EgressSettings {
  /** Where the API server answers: not even `allow` opens it. */
  apiServer?: readonly string[];
  deny?: readonly string[];
  /** Goes before `deny` and before what is always forbidden; for trials on one machine. */
  allow?: readonly string[];
}

/** Reads the settings; the error names the entry that is wrong. */
export const egressRules = ({ apiServer = [], deny = [], allow = [] }: EgressSettings): EgressRules => ({
  apiServer: apiServer.map(rangeOf),
  deny: deny.map(rangeOf),
  allow: allow.map(rangeOf),
});

/** Reads one entry; the error says what an entry looks like. */
function rangeOf(text: string): Range {
  const [, inBrackets, bare, port] = /^(?:\[([^\]]+)\]|([^[\]:]+)):(\d{1,5})$/.exec(text) ?? [];
  const network = networkOf(inBrackets ?? bare ?? text);
  if (!network || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535)
    throw new Error(`"${text}" is no range of addresses: write 10.0.0.0/8, fd00::/8, 10.0.0.1:6443 or [fd00::1]:6443`);
  return { text, network, ...(port !== undefined && { port: Number(port) }) };
}

function networkOf(text: string): [Address, number] | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || rest.length > 0 || !/^\d{1,3}$/.test(bits ?? '0')) return undefined;
  const most = family === 4 ? 32 : 128;
  const length = bits === undefined ? most : Number(bits);
  return length > most ? undefined : [ipaddr.parse(address), length];
}

const always: readonly (Range & { why: string })[] = [
  ['loopback', '127.0.0.0/8', '::1'],
  ['unspecified', '0.0.0.0/8', '::'],
  ['link-local', '169.254.0.0/16', 'fe80::/10'],
  ['multicast', '224.0.0.0/4', 'ff00::/8'],
  ['reserved', '240.0.0.0/4'],
  [
    'the metadata service of a cloud',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
  ],
].flatMap(([why = '', ...ranges]) => ranges.map((text) => ({ ...rangeOf(text), why })));

/** Why an address must not be reached on a port; undefined when it may. What is no address may not. */
export function deniedBecause(address: string, port: number, rules: EgressRules): string | undefined {
  if (isIP(address) === 0) return 'not an address';
  const forms = formsOf(ipaddr.parse(address.replace(/%.*$/, '')));
  const within = (range: Range) =>
    (range.port === undefined || range.port === port) && forms.some((form) => matches(form, range.network));
  if (rules.apiServer.some(within)) return 'the API server';
  if (rules.allow.some(within)) return undefined;
  const never = always.find(within);
  if (never) return never.why;
  const denied = rules.deny.find(within);
  return denied && `denied by the setting egressDeny (${denied.text})`;
}

const matches = (address: Address, [network, bits]: [Address, number]): boolean =>
  address.kind() === network.kind() && address.match(network, bits);

/** An address and the IPv4 address that it carries, if it is a form of one. */
function formsOf(address: Address): Address[] {
  if (!(address instanceof ipaddr.IPv6)) return [address];
  const bytes = address.toByteArray();
  const inner = carriers
    .filter(({ network }) => matches(address, network))
    .map(({ at, mask = 0 }) => v4(bytes, at, mask));
  const isatap = /:(?:200:)?5efe:[0-9a-f:]+$/.test(address.toNormalizedString()) ? [v4(bytes, 12, 0)] : [];
  return [address, ...inner, ...isatap];
}

const v4 = (bytes: readonly number[], at: number, mask: number): Address =>
  new ipaddr.IPv4(bytes.slice(at, at + 4).map((byte) => byte ^ mask));

/** Where in which IPv6 addresses an IPv4 address stands: mapped, compatible, translated, NAT64, 6to4, Teredo. */
const carriers: readonly { network: [Address, number]; at: number; mask?: number }[] = [
  { network: [ipaddr.parse('::ffff:0:0'), 96], at: 12 },
  { network: [ipaddr.parse('::'), 96], at: 12 },
  { network: [ipaddr.parse('::ffff:0:0:0'), 96], at: 12 },
  { network: [ipaddr.parse('64:ff9b::'), 96], at: 12 },
  { network: [ipaddr.parse('64:ff9b:1::'), 48], at: 12 },
  { network: [ipaddr.parse('2002::'), 16], at: 2 },
  { network: [ipaddr.parse('2001::'), 32], at: 4 },
  { network: [ipaddr.parse('2001::'), 32], at: 12, mask: 0xff },
];
