// The Pod Security profile `restricted`, with all of `baseline` in it, as a list of complaints about a pod. Written from
// the profile's own table, field by field, so that what our builders make is judged by something else than themselves.

import type { Container, PodSpec } from '../../src/objects/index.ts';

type Fields = Record<string, unknown>;
type Rule = [what: string, broken: (pod: PodSpec, container: Container) => boolean];

const fieldsOf = (value: unknown): Fields => (value ?? {}) as Fields;
const securityOf = (of: PodSpec | Container): Fields => fieldsOf(of['securityContext']);

/** The container's own setting, or the pod's. */
const setting = (name: string, pod: PodSpec, container: Container): unknown =>
  securityOf(container)[name] ?? securityOf(pod)[name];

const harmlessVolumes = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

const ofContainer: Rule[] = [
  ['must not be privileged', (_pod, container) => securityOf(container)['privileged'] === true],
  ['must not gain privileges', (_pod, container) => securityOf(container)['allowPrivilegeEscalation'] !== false],
  ['must not run as root', (pod, container) => setting('runAsNonRoot', pod, container) !== true],
  ['must not be user 0', (pod, container) => setting('runAsUser', pod, container) === 0],
  ['must drop all capabilities', (_pod, container) => !list(capabilities(container)['drop']).includes('ALL')],
  [
    'must add no capability but NET_BIND_SERVICE',
    (_pod, container) => list(capabilities(container)['add']).some((one) => one !== 'NET_BIND_SERVICE'),
  ],
  [
    'must have a seccomp profile',
    (pod, container) =>
      !['RuntimeDefault', 'Localhost'].includes(String(fieldsOf(setting('seccompProfile', pod, container))['type'])),
  ],
  ['must not unmask /proc', (_pod, container) => (securityOf(container)['procMount'] ?? 'Default') !== 'Default'],
  ['must not take a port of its node', (_pod, container) => list(container['ports']).some((port) => hostPort(port))],
  ['must not choose the host that a probe asks', (_pod, container) => probesOf(container).some(asksAnotherHost)],
];

const ofPod: [what: string, broken: (pod: PodSpec) => boolean][] = [
  ['must not join its node', (pod) => ['hostNetwork', 'hostPID', 'hostIPC'].some((name) => pod[name] === true)],
  ['must not set kernel parameters', (pod) => list(securityOf(pod)['sysctls']).length > 0],
  ['must not choose SELinux or AppArmor for itself', (pod) => 'seLinuxOptions' in securityOf(pod)],
  [
    'must mount only harmless volumes',
    (pod) =>
      list(pod['volumes']).some((volume) =>
        Object.keys(volume as Fields).some((key) => key !== 'name' && !harmlessVolumes.has(key)),
      ),
  ],
];

const list = (value: unknown): unknown[] => (value ?? []) as unknown[];
const capabilities = (container: Container): Fields => fieldsOf(securityOf(container)['capabilities']);
const hostPort = (port: unknown): boolean => Number(fieldsOf(port)['hostPort'] ?? 0) !== 0;

const probesOf = (container: Container): Fields[] => {
  const hooks = fieldsOf(container['lifecycle']);
  const found = [container['startupProbe'], container['readinessProbe'], container['livenessProbe']];
  return [...found, hooks['preStop'], hooks['postStart']].map(fieldsOf);
};
const asksAnotherHost = (probe: Fields): boolean =>
  ['httpGet', 'tcpSocket'].some((way) => fieldsOf(probe[way])['host'] !== undefined);

/** Everything that keeps a pod out of a namespace with the restricted profile. */
export function complaintsAbout(pod: PodSpec): string[] {
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  return [
    ...ofPod.flatMap(([what, broken]) => (broken(pod) ? [what] : [])),
    ...containers.flatMap((container) =>
      ofContainer.flatMap(([what, broken]) => (broken(pod, container) ? [`${container.name} ${what}`] : [])),
    ),
  ];
}
