import { equal, ok, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeAuthority } from '../../tests/kit/scripted-peer.ts';
import { isTlsFault, NoCertificate, trusting } from './trust.ts';

const { certificate } = makeAuthority(Date.now());

describe('the authorities in ca.crt', () => {
  test('may be several, with words between them', () =>
    ok(trusting(`# ours\n${certificate}\n# again\n${certificate}`)));

  for (const [what, text] of [
    ['nothing', ''],
    ['words', 'my authority'],
    ['base64 alone', certificate.replaceAll(/-----.*-----/g, '')],
    ['half a certificate', certificate.slice(0, certificate.length / 2)],
    ['one that is none', '-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----'],
    ['one of two that is none', `${certificate}\n-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----`],
  ] as const)
    test(`are not found in ${what}`, () => throws(() => trusting(text), NoCertificate));
});

test('a lack of trust is told from a lack of connection', () => {
  for (const code of ['CERT_HAS_EXPIRED', 'INVALID_CA', 'EPROTO', 'ERR_TLS_CERT_ALTNAME_INVALID'])
    equal(isTlsFault(code), true);
  for (const code of ['ECONNREFUSED', 'EPROTONOSUPPORT', '']) equal(isTlsFault(code), false);
});
