// The consumers: one pod on every node that is meant and of which KMM says, by its labels, that module and plugin are ready. KMM
// takes its label off a node only when the module is unloaded, and a kernel unloads none whose devices are open: so consumers go first.

import { childName, DeviceTemplate, mark, partLabels, shortHash } from '../../api/index.ts';
import { type Container, DaemonSet, type PodSpec, type PodTemplate } from '../../objects/index.ts';
import { containerBasics, podBasics, pullPolicyOf } from '../../serving/index.ts';
import { askedOf } from './asked.ts';
import { labelsOf, moduleName } from './module.ts';

/** Each version of a driver has consumers of its own: a node changes from one to the other when it is told to. */
export const consumerName = (object: DeviceTemplate): string => {
  const { version } = askedOf(object);
  return childName(object.metadata.name, version === undefined ? 'consumer' : `consumer-${shortHash(version, 6)}`);
};

/** The labels by which the consumers of the version that is asked for are found. */
export function consumerLabels(object: DeviceTemplate): Record<string, string> {
  const { version } = askedOf(object);
  const labels = partLabels(DeviceTemplate.kind, object.metadata.name, 'consumer');
  return version === undefined ? labels : { ...labels, [mark.version]: version };
}

/** The pods, with the hash of what they are: they roll when that changes, and not with every revision. */
export function consumerPods(object: DeviceTemplate): PodTemplate {
  const spec = podSpec(object);
  const labels = { ...consumerLabels(object), [mark.revision]: shortHash(nameless(object, spec), 10) };
  return { metadata: { labels }, spec };
}

/** The pods without the name of their Module, so that what asks for the same has the same hash everywhere. */
const nameless = (object: DeviceTemplate, spec: PodSpec): string =>
  JSON.stringify(spec).replaceAll(`${object.metadata.namespace}.${moduleName(object)}`, 'module');

function podSpec(object: DeviceTemplate): PodSpec {
  const { secret, tolerations } = askedOf(object);
  const { selector: nodeSelector, privileged } = object.spec;
  const fields = {
    nodeSelector,
    ...(tolerations.length > 0 && { tolerations }),
    ...(secret && { imagePullSecrets: [{ name: secret }] }),
  };
  return {
    ...podBasics(fields),
    ...(privileged && { securityContext: { runAsUser: 0, runAsNonRoot: false } }),
    serviceAccountName: 'default',
    terminationGracePeriodSeconds: 30,
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: places(object) }] },
      },
    },
    containers: [container(object)],
    volumes: [
      { name: 'tmp', emptyDir: {} },
      ...(privileged ? [{ name: 'devices', hostPath: { path: '/dev', type: 'Directory' } }] : []),
    ],
  };
}

/** A node that is told to load another version loses its consumer first, so that nothing keeps KMM from unloading. */
function places(object: DeviceTemplate): object[] {
  const { loaded, plugged, version: running, told } = labelsOf(object);
  const { version } = askedOf(object);
  const isThere = (key: string) => ({ key, operator: 'Exists' });
  const isVersion = (key: string) => ({ key, operator: 'In', values: [version] });
  return [isThere(loaded), isThere(plugged), ...(version === undefined ? [] : [isVersion(running), isVersion(told)])];
}

function container(object: DeviceTemplate): Container {
  const { consumer: image } = askedOf(object);
  const { requiredDevices, resourceName, privileged } = object.spec;
  const devices = { [resourceName]: String(requiredDevices) };
  return {
    ...containerBasics,
    ...(privileged && { securityContext: { privileged: true } }),
    name: 'consumer',
    image,
    // The seed's own tag is consumer-latest.
    imagePullPolicy: image.endsWith('latest') ? 'Always' : pullPolicyOf(image),
    resources: { requests: { cpu: '10m', memory: '32Mi', ...devices }, limits: devices },
    volumeMounts: [
      { name: 'tmp', mountPath: '/tmp' },
      ...(privileged ? [{ name: 'devices', mountPath: '/hostdev' }] : []),
    ],
  };
}

/** The DaemonSet of these pods. */
export const consumersOf = (object: DeviceTemplate, template: PodTemplate): DaemonSet => ({
  apiVersion: DaemonSet.apiVersion,
  kind: DaemonSet.kind,
  metadata: { name: consumerName(object), labels: consumerLabels(object) },
  spec: {
    revisionHistoryLimit: 2,
    selector: { matchLabels: consumerLabels(object) },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
    template,
  },
});
