// How a model is reached inside the cluster, and while nodes are drained; under which name it is reached from outside.

import { childName, MLModel, partLabels } from '../../api/index.ts';
import { PodDisruptionBudget, type PodTemplate, Service } from '../../objects/index.ts';
import { isHeldTogether } from './pod.ts';
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

/**
 * At most one of several servers is taken away on purpose. Where all must run on one node all may go: the replacement of
 * one could only start beside the others, on the very node that is drained, and the drain would wait for it for ever.
 */
export const disruptionBudget = (model: MLModel, template: PodTemplate): PodDisruptionBudget => ({
  apiVersion: PodDisruptionBudget.apiVersion,
  kind: PodDisruptionBudget.kind,
  metadata: {
    name: childName(model.metadata.name, 'pdb'),
    labels: partLabels(MLModel.kind, model.metadata.name, 'pdb'),
  },
  spec: { maxUnavailable: isHeldTogether(template) ? '100%' : 1, selector: { matchLabels: serverLabels(model) } },
});
