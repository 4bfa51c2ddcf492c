// Simulated nodes: the objects that are created, and the one stage that makes each ready (again, if need be). Leases
// are kwok's own doing. A node's address is that of the log server, as it is all that anybody ever asks a node for.

import { pins } from '../versions/modules.ts';
import { prefix } from './next.ts';

/** The annotation by which kwok knows the nodes that are its own. */
export const nodeAnnotation = `${prefix}node`;

/** A Node object before it has a status. */
export const nodeObject = (name: string): unknown => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    annotations: { [nodeAnnotation]: 'true' },
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    },
  },
});

const resources = '{ cpu: "64", memory: 256Gi, ephemeral-storage: 1Ti, pods: "1000" }';

const template = (logPort: number): string => `
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
addresses:
- { type: InternalIP, address: 127.0.0.1 }
- { type: Hostname, address: {{ .metadata.name | Quote }} }
daemonEndpoints: { kubeletEndpoint: { Port: ${logPort} } }
allocatable: ${resources}
capacity: ${resources}
nodeInfo:
  architecture: amd64
  bootID: ""
  containerRuntimeVersion: kwok://${pins().kwok.slice(1)}
  kernelVersion: ""
  kubeProxyVersion: ""
  kubeletVersion: ${pins().kubernetes}
  machineID: ""
  operatingSystem: linux
  osImage: simulated
  systemUUID: ""
phase: Running
`;

/** The stage of a node; logs are asked for on this port of loopback. */
export const nodeStage = (logPort: number): unknown => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name: 'node-ready' },
  spec: {
    resourceRef: { apiGroup: 'v1', kind: 'Node' },
    selector: {
      matchExpressions: [
        {
          jq: {
            key: '.status.conditions.[] | select(.type == "Ready") | .status',
            operator: 'NotIn',
            values: ['True'],
          },
        },
      ],
    },
    steps: [{ patch: { subresource: 'status', root: 'status', template: template(logPort) } }],
  },
});
