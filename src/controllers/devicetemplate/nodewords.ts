// What a person is told of nodes: why none is meant, and what one waits for.

import type { DeviceTemplate } from '../../api/index.ts';
import type { Cause } from '../../objects/index.ts';
import { askedOf } from './asked.ts';
import { labelsOf } from './module.ts';
import { cordon, type SeenNode } from './nodes.ts';
import type { Counts, Place } from './survey.ts';

export const selectorWords = ({ spec: { selector } }: DeviceTemplate): string =>
  Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

/** Why no node is there. */
export function nobody(object: DeviceTemplate, barred: readonly SeenNode[]): Cause {
  const labels = selectorWords(object);
  const [first] = barred;
  const message = first
    ? `${barred.length === 1 ? 'The one node' : `All ${barred.length} nodes`} with the labels ${labels} may not be used: ${barWords(first)}`
    : `No node has the labels ${labels}: mend selector, or label nodes`;
  return { reason: 'NoMatchingNodes', message, object: 'DeviceTemplate' };
}

const barWords = ({ name, taint = '' }: SeenNode): string =>
  taint.startsWith(`${cordon}:`)
    ? `${name} is cordoned; uncordon it, or name ${cordon} in tolerations if such nodes are meant`
    : `${name} has the taint ${taint}; name it in tolerations if such nodes are meant`;

/** What KMM alone knows. */
export const untold = ({ matching, plugged }: Counts): Cause | undefined =>
  plugged < matching
    ? {
        reason: 'ModuleNotLoaded',
        message: `KMM has module and plugin as they are asked for on ${plugged} of ${matching} nodes; NodeModulesConfigs tell how far it is, and a module whose devices are open is not unloaded`,
        object: 'Module',
      }
    : undefined;

/** What a node waits for. */
export function placeWords(object: DeviceTemplate, { node, state, kernel, former, cause }: Place): string {
  if (cause) return `${node}: ${cause.message}`;
  const { version } = askedOf(object);
  switch (state) {
    case 'KernelNotMapped':
      return `${node} runs the kernel ${kernel}, for which driver.kernels names no image`;
    case 'ModuleNotLoaded':
      return `${node} has not loaded the module; NodeModulesConfig ${node} tells how far KMM is`;
    case 'PluginNotReady':
      return `${node} has loaded the module, and its device plugin is not ready`;
    case 'OtherVersion':
      return `${node} is not told to load version ${version}: label it with ${labelsOf(object).told}=${version}`;
    case 'VersionUntold':
      return `${node} has module and plugin, and KMM does not tell of which version: for driver.version it must be KMM 2.5 or newer`;
    case 'Starting':
      return former ? `${node} still has a consumer of the former revision` : `the consumer on ${node} is starting`;
    case 'Ready':
    case undefined:
      return `${node} is ready`;
  }
}
