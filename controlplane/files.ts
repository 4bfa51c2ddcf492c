// The files that the components are started with: certificates, keys, and a kubeconfig for each identity. The
// kubeconfigs carry their certificates within, so that a copy of one works anywhere on the machine.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Authority, type Credentials, makeAuthority, makeSigningKey } from './certificates.ts';
import { writePolicy } from './recording.ts';

/** What the library itself needs of the files it wrote. */
export interface Identities {
  ca: string;
  admin: Credentials;
  /** What the simulated nodes show when they are asked for logs. */
  node: Credentials;
  /** Signs for whoever comes later. */
  authority: Authority;
}

/** Makes every certificate and writes what is read by a component; the API server may answer at more addresses. */
export function writeFiles(folder: string, url: string, now: number, addresses: string[] = []): Identities {
  const authority = makeAuthority(now);
  const ca = authority.certificate;
  const loopback = ['127.0.0.1', 'localhost'];
  const server = authority.issue({ name: 'kube-apiserver', addresses: [...loopback, ...inCluster, ...addresses] });
  const admin = authority.issue({ name: 'admin', groups: ['system:masters'] });
  const manager = authority.issue({ name: 'system:kube-controller-manager', groups: ['system:masters'] });
  const scheduler = authority.issue({ name: 'system:kube-scheduler' });
  const kwok = authority.issue({ name: 'kwok', groups: ['system:masters'] });
  const tokens = makeSigningKey();
  const pki = (name: string, text: string) => writeFileSync(join(folder, 'pki', name), text, { mode: 0o600 });
  pki('ca.crt', ca);
  pki('apiserver.crt', server.certificate);
  pki('apiserver.key', server.key);
  pki('admin.crt', admin.certificate);
  pki('admin.key', admin.key);
  pki('tokens.key', tokens.key);
  pki('tokens.pub', tokens.publicKey);
  for (const [name, credentials] of Object.entries({ admin, 'controller-manager': manager, scheduler, kwok })) {
    writeFileSync(join(folder, `${name}.kubeconfig`), kubeconfig(url, ca, credentials), { mode: 0o600 });
  }
  writePolicy(folder);
  return { ca, admin, node: authority.issue({ name: 'node', addresses: loopback }), authority };
}

const inCluster = ['10.96.0.1', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];

/** A kubeconfig with one context; JSON, which is YAML too. */
export function kubeconfig(server: string, ca: string, { certificate, key }: Credentials): string {
  const user = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'baton',
    clusters: [{ name: 'baton', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: 'baton', user }],
    contexts: [{ name: 'baton', context: { cluster: 'baton', user: 'baton' } }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
