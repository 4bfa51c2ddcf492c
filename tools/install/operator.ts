// The operator itself as objects of a cluster: its namespace, account, configuration and Deployment. The pod passes Pod
// Security `restricted` and has a root that it cannot write; its namespace enforces that.

import { emptyFile } from '../../src/operator/index.ts';
import { home, labels, type Manifest } from './place.ts';

const { serviceAccount: name, namespace } = home;
const nobody = 65_532;
const settingsFolder = '/etc/baton';

/** Where probes and metrics are served. */
export const healthPort = 8081;

/** What differs between two installations. */
export interface Choices {
  image: string;
  /** Namespaces to work in, with Roles only; empty means all. */
  namespaces: readonly string[];
}

export const operatorNamespace: Manifest = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
};

export const serviceAccount: Manifest = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace, labels },
};

/** Names every setting and sets none, so that a person finds what can be set where they set it. */
export const configMap = (): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels },
  data: { 'config.yaml': emptyFile() },
});

/** One pod; a second one would stand by. An update starts the new pod before the old one gives the lease back. */
export const deployment = (choices: Choices): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace, labels },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: {
      metadata: { labels: { ...labels } },
      spec: {
        serviceAccountName: name,
        // Variables of a Service called baton would look like settings.
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 30,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: nobody,
          runAsGroup: nobody,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        containers: [container(choices)],
        volumes: [{ name: 'config', configMap: { name } }],
      },
    },
  },
});

const container = ({ image, namespaces }: Choices) => ({
  name: 'operator',
  image,
  args: [
    'operator',
    `--config=${settingsFolder}/config.yaml`,
    `--health-address=:${healthPort}`,
    ...(namespaces.length > 0 ? [`--namespaces=${namespaces.join(',')}`] : []),
  ],
  env: [
    { name: 'BATON_IMAGE', value: image },
    // Node's own young generation of up to 128 MB would stay with an operator that has fallen quiet.
    { name: 'NODE_OPTIONS', value: '--max-semi-space-size=4' },
  ],
  ports: [{ name: 'health', containerPort: healthPort }],
  livenessProbe: { httpGet: { path: '/livez', port: 'health' }, periodSeconds: 10, timeoutSeconds: 5 },
  readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 5, timeoutSeconds: 5 },
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '2', memory: '512Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  terminationMessagePolicy: 'FallbackToLogsOnError',
  volumeMounts: [{ name: 'config', mountPath: settingsFolder, readOnly: true }],
});
