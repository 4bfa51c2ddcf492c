// The Module of Kernel Module Management (KMM), which a cluster need not have, and the labels by which KMM tells of each node
// how far it is with a Module.

import { kindOf, type KubeObject } from './kind.ts';
import { type Container } from './pod.ts';

/** Which image holds the module for which kernels. */
export interface KernelMapping {
  literal?: string;
  regexp?: string;
  containerImage: string;
}

/** How many nodes KMM has found, and how far it is with them; it leaves out what is none. */
export interface ModuleCounts {
  nodesMatchingSelectorNumber?: number;
  desiredNumber?: number;
  availableNumber?: number;
}

export interface Module extends KubeObject {
  spec: {
    moduleLoader: {
      container: {
        modprobe: { moduleName: string; parameters?: string[] };
        kernelMappings: KernelMapping[];
        imagePullPolicy?: string;
        version?: string;
      };
    };
    devicePlugin?: { container: Partial<Container> };
    imageRepoSecret?: { name: string };
    selector: Record<string, string>;
    tolerations?: object[];
  };
  status?: { moduleLoader?: ModuleCounts; devicePlugin?: ModuleCounts };
}

export const Module = kindOf<Module>('kmm.sigs.x-k8s.io/v1beta1', 'Module', 'modules');

const prefix = 'kmm.node.kubernetes.io';

/** The labels of nodes about one Module. */
export const moduleLabels = (namespace: string, module: string) =>
  ({
    /** By KMM: the module is loaded. */
    loaded: `${prefix}/${namespace}.${module}.ready`,
    /** By KMM: the device plugin runs. */
    plugged: `${prefix}/${namespace}.${module}.device-plugin-ready`,
    /** By KMM: the version that is loaded. */
    version: `${prefix}/${namespace}.${module}.version.ready`,
    /** By a person: the version that the node is to load, where a Module has versions. */
    told: `${prefix}/version-module.${namespace}.${module}`,
  }) as const;

/** The most characters that KMM lets the namespace and the name of a Module have together: they are part of labels. */
export const longestModule = 40;
