// Who may talk to whom, for clusters whose network enforces it: the operator's own namespace is closed but for what the
// operator needs, and namespaces with models get a pair of policies that a person applies there. No policy can name the API
// server or a source by its host, so they bound ports and leave out link-local addresses, where clouds keep their metadata.

import { MLModel, ModelDeployment } from '../../src/api/index.ts';
import { label } from '../../src/objects/index.ts';
import { home, labels, type Manifest } from './place.ts';

const head = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' } as const;
const both = ['Ingress', 'Egress'];

/** Names are asked for anywhere: a cache on the node answers on a link-local address. */
const dns = { ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 })) };

/** Everywhere but link-local, by TCP. */
const outside = {
  to: [
    { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } },
    { ipBlock: { cidr: '::/0', except: ['fe80::/10', 'fd00:ec2::254/128'] } },
  ],
  ports: [{ protocol: 'TCP', port: 1, endPort: 65_535 }],
};

/** The namespace of the operator: nobody in it talks, but the operator to the API server, to registries and to whoever looks at its health. */
export function operatorPolicies(health: number): Manifest[] {
  const { namespace, serviceAccount: name } = home;
  return [
    { ...head, metadata: { name: 'default-deny', namespace, labels }, spec: { podSelector: {}, policyTypes: both } },
    {
      ...head,
      metadata: { name, namespace, labels },
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: both,
        ingress: [{ ports: [{ protocol: 'TCP', port: health }] }],
        egress: [dns, outside],
      },
    },
  ];
}

/** These are no part of the operator. */
const ours = { 'app.kubernetes.io/name': labels['app.kubernetes.io/name'] };

/** For a namespace with models: servers answer and ask nobody, what fetches weights or looks at images asks and answers nobody. */
export const modelPolicies = (): Manifest[] => [
  {
    ...head,
    metadata: { name: 'baton-servers', labels: ours },
    spec: {
      podSelector: podsOf(['server']),
      policyTypes: both,
      ingress: [{ ports: [{ protocol: 'TCP', port: 'http' }] }],
    },
  },
  {
    ...head,
    metadata: { name: 'baton-fetchers', labels: ours },
    spec: { podSelector: podsOf(['download', 'inspect']), policyTypes: both, egress: [dns, outside] },
  },
];

const podsOf = (components: readonly string[]) => ({
  matchExpressions: [
    { key: label.kind, operator: 'In', values: [MLModel.kind, ModelDeployment.kind] },
    { key: 'app.kubernetes.io/component', operator: 'In', values: components },
  ],
});
