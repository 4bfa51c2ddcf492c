// How a model is reached inside the cluster, and while nodes are drained; under which name it is reached from outside.

import { childName, MLModel, partLabels } from '../../api/index.ts';
import type { PodDisruptionBudget, PodTemplate, Service } from '../../objects/index.ts';
import { budget, clusterService, type Named } from '../../serving/index.ts';
import { isHeldTogether } from './pod.ts';
import { serverLabels } from './server.ts';

export const serviceName = ({ metadata }: MLModel): string => childName(metadata.name, 'service');
export const exposeName = ({ metadata }: MLModel): string => childName(metadata.name, 'expose');

/** Inside the cluster. */
export const service = (model: MLModel, port: number): Service =>
  clusterService(named(model, 'service'), serverLabels(model), port);

/**
 * At most one of several servers is taken away on purpose. Where all must run on one node all may go: the replacement of
 * one could only start beside the others, on the very node that is drained, and the drain would wait for it for ever.
 */
export const disruptionBudget = (model: MLModel, template: PodTemplate): PodDisruptionBudget =>
  budget(named(model, 'pdb'), serverLabels(model), isHeldTogether(template) ? '100%' : 1);

const named = ({ metadata: { name } }: MLModel, part: string): Named => ({
  name: childName(name, part),
  labels: partLabels(MLModel.kind, name, part),
});
