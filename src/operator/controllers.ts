// The controllers that the operator runs, as its settings make them, and what they ask outside the cluster.

import type { Clock, EgressRules } from '../base/index.ts';
import { deviceTemplateController } from '../controllers/devicetemplate/index.ts';
import { mlModelController } from '../controllers/mlmodel/index.ts';
import { modelDeploymentController } from '../controllers/modeldeployment/index.ts';
import type { OperatorOptions } from '../kube/index.ts';
import { digestAt, lookAt, openRegistry } from '../programs/inspect/index.ts';
import type { RegistryClients } from '../serving/index.ts';
import { exposureFrom, type ExposureSettings } from './exposure.ts';
import { tableOf } from './frameworks.ts';
import type { Settings } from './settings.ts';

type Decided =
  | keyof ExposureSettings
  | 'image'
  | 'frameworks'
  | 'namespaces'
  | 'imageVolumes'
  | 'egressDeny'
  | 'plainRegistries'
  | 'privilegedImages';

/** Every controller of the product. */
export function controllersFrom(
  settings: Pick<Settings, Decided>,
  clients: RegistryClients,
): OperatorOptions['controllers'] {
  const { image, frameworks, namespaces, imageVolumes, egressDeny, plainRegistries, privilegedImages } = settings;
  const exposure = exposureFrom(settings);
  if ('wrong' in exposure) throw new TypeError(exposure.wrong);
  const programs = { image, egressDeny, plainRegistries };
  const models = mlModelController({
    ...programs,
    frameworks: tableOf(image, frameworks),
    exposure: exposure.value,
    // Nodes cannot be seen with Roles only.
    imageVolumes: imageVolumes === 'auto' && namespaces.length > 0 ? 'off' : imageVolumes,
  });
  return [
    { definition: models, clients },
    { definition: modelDeploymentController(programs), clients },
    { definition: deviceTemplateController({ privilegedImages }) },
  ];
}

/** What the operator itself asks of registries: as nobody, because it reads no Secrets. */
export function clientsFrom(
  { plainRegistries: plainHttp }: Pick<Settings, 'plainRegistries'>,
  around: { clock: Clock; random: () => number; rules: EgressRules },
): RegistryClients {
  const registry = openRegistry({ ...around, plainHttp });
  return {
    registry: {
      lookAt: (image, signal) => lookAt(registry, image, signal),
      digestOf: (image, signal) => digestAt(registry, image, signal),
    },
  };
}
