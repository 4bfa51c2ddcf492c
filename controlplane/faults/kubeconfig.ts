// A kubeconfig that leads to the proxy as somebody with a token, for the operator process under test.

import { stringify } from 'yaml';

/** Text of a kubeconfig with one cluster, one user and one context. */
export function kubeconfigText(url: string, caPem: string, token: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'faults', cluster: { server: url, 'certificate-authority-data': encoded(caPem) } }],
    users: [{ name: 'caller', user: { token } }],
    contexts: [{ name: 'faults', context: { cluster: 'faults', user: 'caller' } }],
    'current-context': 'faults',
  });
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');
