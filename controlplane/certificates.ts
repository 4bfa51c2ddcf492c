// The certificates of one control plane, made in this process: an authority, what each component shows, and the key
// that signs ServiceAccount tokens. Elliptic keys, so that all of them take milliseconds; they live as long as a test.

import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { bits, element, identifier, integer, octets, sequence, set, text, time, yes } from './der.ts';

/** A certificate and its private key, both as PEM. */
export interface Credentials {
  certificate: string;
  key: string;
}

/** Whom a certificate speaks for: user name, groups, and the addresses a server with it may answer at. */
export interface Identity {
  name: string;
  groups?: string[];
  addresses?: string[];
}

/** Signs certificates that everybody in one control plane believes. */
export interface Authority {
  certificate: string;
  issue(identity: Identity): Credentials;
}

const day = 24 * 3600 * 1000;

/** A new authority; `now` in milliseconds, certificates are valid from a day before to thirty days after. */
export function makeAuthority(now: number): Authority {
  const { publicKey, privateKey } = keyPair();
  const authority = { name: 'baton-controlplane' };
  const sign = (subject: Identity, key: KeyObject, extensions: Buffer[]) =>
    certificate({ subject, issuer: authority, key, extensions, signer: privateKey, now });
  return {
    certificate: sign(authority, publicKey, [constraints(yes), signsCertificates]),
    issue(identity) {
      const pair = keyPair();
      const extensions = [constraints(), bothSides, ...alternativeNames(identity.addresses ?? [])];
      return { certificate: sign(identity, pair.publicKey, extensions), key: privatePem(pair.privateKey) };
    },
  };
}

/** The key pair that signs and checks ServiceAccount tokens, as PEM. */
export function makeSigningKey(): { key: string; publicKey: string } {
  const { publicKey, privateKey } = keyPair();
  return { key: privatePem(privateKey), publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
}

interface Contents {
  subject: Identity;
  issuer: Identity;
  key: KeyObject;
  extensions: Buffer[];
  signer: KeyObject;
  now: number;
}

const ecdsaWithSha256 = sequence(identifier('1.2.840.10045.4.3.2'));

function certificate({ subject, issuer, key, extensions, signer, now }: Contents): string {
  const signed = sequence(
    element(0xa0, integer(2)),
    integer(1, ...randomBytes(8)),
    ecdsaWithSha256,
    distinguishedName(issuer),
    sequence(time(new Date(now - day)), time(new Date(now + 30 * day))),
    distinguishedName(subject),
    key.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...extensions)),
  );
  const signature = createSign('SHA256').update(signed).sign(signer);
  return pem('CERTIFICATE', sequence(signed, ecdsaWithSha256, bits(0, signature)));
}

/** Kubernetes reads the user from the common name and the groups from the organizations. */
const distinguishedName = ({ name, groups = [] }: Identity): Buffer =>
  sequence(...groups.map((group) => attribute('2.5.4.10', group)), attribute('2.5.4.3', name));

const attribute = (type: string, value: string): Buffer => set(sequence(identifier(type), text(value)));

const constraints = (...content: Buffer[]): Buffer =>
  sequence(identifier('2.5.29.19'), yes, octets(sequence(...content)));

const signsCertificates = sequence(identifier('2.5.29.15'), yes, octets(bits(1, Buffer.from([0b1000_0110]))));

/** For servers and for clients alike. */
const bothSides = sequence(
  identifier('2.5.29.37'),
  octets(sequence(identifier('1.3.6.1.5.5.7.3.1'), identifier('1.3.6.1.5.5.7.3.2'))),
);

function alternativeNames(addresses: string[]): Buffer[] {
  if (addresses.length === 0) return [];
  const names = addresses.map((address) =>
    /^[\d.]+$/.test(address)
      ? element(0x87, Buffer.from(address.split('.').map(Number)))
      : element(0x82, Buffer.from(address)),
  );
  return [sequence(identifier('2.5.29.17'), octets(sequence(...names)))];
}

const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

const privatePem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
