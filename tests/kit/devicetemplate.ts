// A DeviceTemplate, its children and its nodes at every point of their lives, for tests of the pure controller. Children come
// from the controller's own builders, so that names and labels are right by construction.

import { DeviceTemplate, type DeviceTemplateStatus } from '../../src/api/index.ts';
import {
  consumersOf,
  cut,
  decide,
  type DeviceFacts,
  type DeviceSettings,
  labelsOf,
  moduleOf,
} from '../../src/controllers/devicetemplate/index.ts';
import type { Decision, Facts, Observed } from '../../src/kube/define.ts';
import type { ControllerRevision, DaemonSet, Module, Node, Pod, Taint } from '../../src/objects/index.ts';
import { revisionObject } from '../../src/serving/index.ts';
import { readyStatus } from './mlmodel.ts';
import { now } from './plans.ts';

export const settings: DeviceSettings = { privilegedImages: ['registry.example/*', 'quay.io/chrisp262/*'] };

/** One as the API server would hand it out, with every default. */
export const aTemplate = (
  spec: Partial<DeviceTemplate['spec']> = {},
  metadata: Partial<DeviceTemplate['metadata']> = {},
): DeviceTemplate => ({
  apiVersion: DeviceTemplate.apiVersion,
  kind: DeviceTemplate.kind,
  metadata: { name: 'lamp', namespace: 'shop', uid: 'uid-lamp', generation: 1, ...metadata },
  spec: {
    selector: { lamps: 'yes' },
    maxdev: 5,
    requiredDevices: 1,
    resourceName: 'example.com/ptemplate',
    privileged: false,
    ...spec,
  },
});

export const revision = (object: DeviceTemplate, number = 1): ControllerRevision =>
  revisionObject(object, cut(object, number));
export const module = (object: DeviceTemplate, status?: Module['status']): Module => ({
  ...moduleOf(object, cut(object, 1).module),
  ...(status && { status }),
});

/** The DaemonSet, as its controller sees it on so many nodes. */
export const daemonSet = (object: DeviceTemplate, desired = 1, current = desired): DaemonSet => ({
  ...consumersOf(object, cut(object, 1).template),
  status: { desiredNumberScheduled: desired, currentNumberScheduled: current },
});

/** How far KMM is with a node. */
export type Progress = 'nothing' | 'loaded' | 'plugged';

/** What KMM writes onto a node, and a person where there are versions. */
export function kmmLabels(object: DeviceTemplate, progress: Progress): Record<string, string> {
  const { loaded, plugged, version, told } = labelsOf(object);
  const asked = object.spec.driver?.version;
  return {
    ...(asked !== undefined && { [told]: asked }),
    ...(progress !== 'nothing' && { [loaded]: '', ...(asked !== undefined && { [version]: asked }) }),
    ...(progress === 'plugged' && { [plugged]: '' }),
  };
}

/** How a node is. */
interface Condition {
  progress?: Progress;
  kernel?: string;
  taints?: Taint[];
}

/** A node that is meant. */
export const node = (
  object: DeviceTemplate,
  name: string,
  { progress = 'plugged', kernel: kernelVersion = '', taints = [] }: Condition = {},
): { foreign: Node } => ({
  foreign: {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...object.spec.selector, ...kmmLabels(object, progress) } },
    spec: { taints },
    status: { nodeInfo: { kernelVersion } },
  },
});

/** A consumer on a node, of the revision of this object. */
export const consumer = (object: DeviceTemplate, on: string, status: Pod['status'] = readyStatus): Pod => {
  const { metadata, spec } = cut(object, 1).template;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `lamp-consumer-${on}`,
      namespace: 'shop',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(metadata?.labels && { labels: metadata.labels }),
    },
    spec: { ...spec, nodeName: on },
    status,
  };
};

export const noFacts: Facts<DeviceFacts> = { makerEvents: { state: 'unneeded' } };

/** What the controller decides. */
export const look = (
  object: DeviceTemplate,
  seen: Observed,
  { facts = noFacts, at = now, allowed = settings } = {},
): Decision<DeviceTemplateStatus> => decide({ object, seen, facts, now: at }, allowed);
