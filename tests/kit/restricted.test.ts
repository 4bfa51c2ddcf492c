import { deepEqual, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container, PodSpec } from '../../src/objects/index.ts';
import { complaintsAbout } from './restricted.ts';

const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
const container: Container = { name: 'one', image: 'i', securityContext };
const pod: PodSpec = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [container],
};
const withContainer = (fields: object): PodSpec => ({ ...pod, containers: [{ ...container, ...fields }] });
const secured = (fields: object): PodSpec => withContainer({ securityContext: { ...securityContext, ...fields } });

const bad: [what: RegExp, pod: PodSpec][] = [
  [/join its node/, { ...pod, hostNetwork: true }],
  [/harmless volumes/, { ...pod, volumes: [{ name: 'host', hostPath: { path: '/' } }] }],
  [/kernel parameters/, { ...pod, securityContext: { ...(pod['securityContext'] as object), sysctls: [{}] } }],
  [/privileged/, secured({ privileged: true })],
  [/gain privileges/, secured({ allowPrivilegeEscalation: undefined })],
  [/run as root/, secured({ runAsNonRoot: false })],
  [/user 0/, secured({ runAsUser: 0 })],
  [/drop all/, secured({ capabilities: {} })],
  [/NET_BIND_SERVICE/, secured({ capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } })],
  [/seccomp/, secured({ seccompProfile: { type: 'Unconfined' } })],
  [/proc/, secured({ procMount: 'Unmasked' })],
  [/port of its node/, withContainer({ ports: [{ containerPort: 1, hostPort: 1 }] })],
  [/host that a probe asks/, withContainer({ livenessProbe: { httpGet: { host: '10.0.0.1' } } })],
  [/run as root/, { ...pod, initContainers: [{ ...container, securityContext: { runAsNonRoot: false } }] }],
];

describe('the restricted profile', () => {
  test('lets a pod pass that has all it needs', () => deepEqual(complaintsAbout(pod), []));

  for (const [what, broken] of bad)
    test(`complains by ${what.source}`, () => ok(complaintsAbout(broken).some((complaint) => what.test(complaint))));
});
