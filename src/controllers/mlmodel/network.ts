// How a model is reached: inside the cluster always, outside when asked, and while nodes are drained.

import { childName, MLModel, partLabels } from '../../api/index.ts';
import { PodDisruptionBudget, Service } from '../../objects/index.ts';
import { serverLabels } from './server.ts';

export const serviceName = ({ metadata }: MLModel): string => childName(metadata.name, 'service');
export const exposeName = ({ metadata }: MLModel): string => childName(metadata.name, 'expose');

/** Inside the cluster. */
export const service = (model: MLModel, port: number): Service => ({
  apiVersion: Service.apiVersion,
  kind: Service.kind,
  metadata: { name: serviceName(model), labels: partLabels(MLModel.kind, model.metadata.name, 'service') },
  spec: { type: 'ClusterIP', selector: serverLabels(model), ports: [{ name: 'http', port, targetPort: 'http' }] },
});

/** On a port of every node. */
export const nodePort = (model: MLModel, port: number): Service => ({
  apiVersion: Service.apiVersion,
  kind: Service.kind,
  metadata: { name: exposeName(model), labels: partLabels(MLModel.kind, model.metadata.name, 'expose') },
  spec: { type: 'NodePort', selector: serverLabels(model), ports: [{ name: 'http', port, targetPort: 'http' }] },
});

/** At most one of several servers is taken away on purpose. */
export const disruptionBudget = (model: MLModel): PodDisruptionBudget => ({
  apiVersion: PodDisruptionBudget.apiVersion,
  kind: PodDisruptionBudget.kind,
  metadata: {
    name: childName(model.metadata.name, 'pdb'),
    labels: partLabels(MLModel.kind, model.metadata.name, 'pdb'),
  },
  spec: { maxUnavailable: 1, selector: { matchLabels: serverLabels(model) } },
});
