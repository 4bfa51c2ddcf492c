// The corpus of addresses, in every written form that reaches this far: resolvers and URLs have normalised the others.

import { equal, match, ok, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { deniedBecause, egressRules } from './index.ts';

const usual = egressRules({});

describe('always denied', () => {
  const corpus: Record<string, string[]> = {
    loopback: ['127.0.0.1', '127.0.0.53', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '::1%lo'],
    unspecified: ['0.0.0.0', '0.1.2.3', '::', '0:0:0:0:0:0:0:0'],
    'link-local': ['169.254.169.254', '169.254.0.1', '169.254.170.2', 'fe80::1', 'fe80::1%eth0', 'febf::ffff'],
    multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1', 'ff0e::1'],
    reserved: ['240.0.0.1', '255.255.255.255'],
    'the metadata service of a cloud': [
      'fd00:ec2::254',
      'fd20:ce::254',
      '100.100.100.200',
      '192.0.0.192',
      '168.63.129.16',
    ],
  };
  for (const [why, addresses] of Object.entries(corpus))
    for (const address of addresses) test(`${address}: ${why}`, () => equal(deniedBecause(address, 443, usual), why));
});

describe('IPv4 inside IPv6 is judged as IPv4', () => {
  /** Two bytes as IPv6 writes them. */
  const two = (a = 0, b = 0) => (a * 256 + b).toString(16);
  const forms: [string, (a: number[]) => string][] = [
    ['mapped', (a) => `::ffff:${a.join('.')}`],
    ['mapped, in hexadecimal', (a) => `::ffff:${two(a[0], a[1])}:${two(a[2], a[3])}`],
    ['mapped, written out', (a) => `0:0:0:0:0:ffff:${two(a[0], a[1])}:${two(a[2], a[3])}`],
    ['compatible', (a) => `::${a.join('.')}`],
    ['translated', (a) => `::ffff:0:${two(a[0], a[1])}:${two(a[2], a[3])}`],
    ['NAT64', (a) => `64:ff9b::${a.join('.')}`],
    ['local NAT64', (a) => `64:ff9b:1::${a.join('.')}`],
    ['6to4', (a) => `2002:${two(a[0], a[1])}:${two(a[2], a[3])}::1`],
    ['Teredo server', (a) => `2001:0:${two(a[0], a[1])}:${two(a[2], a[3])}:0:0:f7f7:f7f7`],
    [
      'Teredo client',
      (a) =>
        `2001:0:808:808:0:0:${two(255 - (a[0] ?? 0), 255 - (a[1] ?? 0))}:${two(255 - (a[2] ?? 0), 255 - (a[3] ?? 0))}`,
    ],
    ['ISATAP', (a) => `2001:db8::5efe:${two(a[0], a[1])}:${two(a[2], a[3])}`],
    ['ISATAP, global', (a) => `2001:db8::200:5efe:${two(a[0], a[1])}:${two(a[2], a[3])}`],
  ];
  const denied = [
    [127, 0, 0, 1],
    [169, 254, 169, 254],
    [10, 96, 0, 1],
  ];
  const rules = egressRules({ deny: ['10.96.0.0/12'] });
  for (const [name, form] of forms)
    test(name, () => {
      for (const address of denied) ok(deniedBecause(form(address), 443, rules) !== undefined, form(address));
      equal(deniedBecause(form([93, 184, 216, 34]), 443, rules), undefined, form([93, 184, 216, 34]));
    });
});

test('ordinary addresses may be reached, those of pods and Services too', () => {
  for (const address of [
    '93.184.216.34',
    '10.96.0.10',
    '10.244.1.7',
    '192.168.1.1',
    '172.16.0.1',
    '100.64.0.1',
    '2606:4700::1',
    'fd00::7',
  ])
    equal(deniedBecause(address, 443, usual), undefined, address);
});

test('what is no address may not be reached', () => {
  for (const text of ['', 'localhost', '0x7f.1', '2130706433', '0177.0.0.1', '127.1', '1.2.3.4.5', '[::1]'])
    equal(deniedBecause(text, 443, usual), 'not an address', text);
});

describe('settings', () => {
  const rules = egressRules({
    apiServer: ['10.0.0.1:6443', '[fd00::1]:6443'],
    deny: ['10.0.0.0/8', '192.168.1.1', '192.168.2.2:9000', 'fd00::/8'],
    allow: ['127.0.0.1:8080', '10.1.1.1', '10.0.0.1'],
  });
  const rows: [string, number, RegExp | undefined][] = [
    ['10.2.3.4', 443, /egressDeny \(10\.0\.0\.0\/8\)/],
    ['192.168.1.1', 1, /egressDeny/],
    ['192.168.1.2', 1, undefined],
    ['192.168.2.2', 9000, /egressDeny/],
    ['192.168.2.2', 9001, undefined],
    ['fd12::1', 443, /egressDeny/],
    ['127.0.0.1', 8080, undefined],
    ['127.0.0.1', 8081, /loopback/],
    ['10.1.1.1', 443, undefined],
    ['10.0.0.1', 6443, /the API server/],
    ['10.0.0.1', 443, undefined],
    ['fd00::1', 6443, /the API server/],
    ['::ffff:10.0.0.1', 6443, /the API server/],
  ];
  for (const [address, port, why] of rows)
    test(`${address} on ${port}`, () => {
      const said = deniedBecause(address, port, rules);
      if (why) match(said ?? 'allowed', why);
      else equal(said, undefined);
    });

  test('that cannot be read are refused by name', () => {
    for (const text of [
      '10.0.0.0/33',
      '10.0.0',
      'example.com',
      '10.0.0.1:0',
      '10.0.0.1:70000',
      'fd00::1:',
      'fe80::1%eth0',
      '',
      '1.2.3.4/8/9',
    ])
      throws(
        () => egressRules({ deny: [text] }),
        new RegExp(`"${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}" is no range`),
      );
  });
});

test('a range denies exactly the addresses within', () => {
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
  const number = (a: readonly number[]) => a.reduce((sum, octet) => sum * 256 + octet, 0);
  fc.assert(
    fc.property(octets, octets, fc.nat(32), (network, address, bits) => {
      const within =
        bits === 0 || Math.floor(number(network) / 2 ** (32 - bits)) === Math.floor(number(address) / 2 ** (32 - bits));
      const rules = egressRules({ deny: [`${network.join('.')}/${bits}`] });
      if (deniedBecause(address.join('.'), 443, usual) !== undefined) return;
      equal(deniedBecause(address.join('.'), 443, rules) !== undefined, within);
    }),
  );
});
