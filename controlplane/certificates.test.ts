import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { makeAuthority, makeSigningKey } from './certificates.ts';

const now = Date.UTC(2026, 5, 1);
const authority = makeAuthority(now);
const root = new X509Certificate(authority.certificate);

test('an authority may sign certificates and signed its own', () => {
  assert.equal(root.ca, true);
  assert.equal(root.verify(root.publicKey), true);
});

test('an issued certificate is the authority’s, and of nobody else', () => {
  const issued = new X509Certificate(authority.issue({ name: 'someone' }).certificate);
  assert.equal(issued.ca, false);
  assert.equal(issued.checkIssued(root), true);
  assert.equal(issued.verify(root.publicKey), true);
  assert.equal(issued.verify(new X509Certificate(makeAuthority(now).certificate).publicKey), false);
});

test('user and groups are where Kubernetes looks for them', () => {
  const { certificate } = authority.issue({ name: 'admin', groups: ['system:masters', 'others'] });
  assert.equal(new X509Certificate(certificate).subject, 'O=system:masters\nO=others\nCN=admin');
});

test('a server is known by its names and addresses only', () => {
  const { certificate } = authority.issue({ name: 'server', addresses: ['127.0.0.1', 'localhost'] });
  const issued = new X509Certificate(certificate);
  assert.equal(issued.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(issued.checkHost('localhost'), 'localhost');
  assert.equal(issued.checkIP('127.0.0.2'), undefined);
});

test('long contents are encoded too', () => {
  const addresses = Array.from({ length: 40 }, (_, index) => `a-rather-long-name-${index}.example.test`);
  const issued = new X509Certificate(authority.issue({ name: 'many', addresses }).certificate);
  assert.equal(issued.checkHost(addresses[39] ?? ''), addresses[39]);
});

test('the key is the one of the certificate', () => {
  const { certificate, key } = authority.issue({ name: 'someone' });
  assert.equal(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)), true);
});

test('certificates hold from a day before until thirty days after', () => {
  assert.equal(root.validFromDate.getTime(), now - 24 * 3600 * 1000);
  assert.equal(root.validToDate.getTime(), now + 30 * 24 * 3600 * 1000);
});

test('the key for tokens is a pair', () => {
  const { key, publicKey } = makeSigningKey();
  assert.match(key, /BEGIN PRIVATE KEY/);
  assert.match(publicKey, /BEGIN PUBLIC KEY/);
});
