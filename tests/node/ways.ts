// The ways in which a model is served: its weights fetched onto a volume, or in an image of its own. What a story about serving
// must know of each.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodePrograms } from '../../controlplane/node/index.ts';
import { MLModel, ModelDeployment } from '../../src/api/index.ts';
import type { Kind } from '../../src/objects/index.ts';
import { tar } from '../kit/archives/tar.ts';
import type { Origin } from '../kit/origin.ts';
import { type Factor, factors, multiplier } from './clients.ts';
import type { Stage, UserKind } from './stage.ts';

export interface Way {
  kind: Kind<UserKind>;
  /** Where its servers answer. */
  port: number;
  spec(factor: Factor, replicas: number): object;
  /** Kinds of which there are so many objects in the middle of an update. */
  begunBy: { kinds: string; count: number };
}

const execute = promisify(execFile);

/** Our image with a model in it, which it serves on the port that the seed's images had. */
async function pushModel({ cluster, image }: Stage, factor: Factor): Promise<void> {
  const { crane } = await nodePrograms(['crane']);
  const [file, name] = [join(cluster.folder, `model-${factor}.tar`), imageOf(cluster.registry, factor)];
  writeFileSync(file, tar({ name: 'model/model.onnx', content: multiplier(factor) }));
  const run = (...args: string[]) => execute(crane, [...args, '--insecure'], { timeout: 60_000 });
  await run('append', '--base', image, '--new_layer', file, '--new_tag', name);
  await run('mutate', name, '--cmd', 'serve,--model=/model,--port=5000', '--tag', name);
}

const imageOf = (registry: string, factor: Factor): string => `${registry}/models/multiplier:${factor}`;

/** By the kind that a user writes. */
export const ways: Record<string, (stage: Stage, origin: Origin) => Promise<Way>> = {
  MLModel: async (_stage, origin) => ({
    kind: MLModel,
    port: 8080,
    spec: (factor, replicas) => ({
      modelURL: `http://${origin.host}/${factor}.onnx`,
      storageSize: '64Mi',
      framework: 'onnx',
      expose: true,
      replicas,
    }),
    begunBy: { kinds: 'jobs', count: 1 },
  }),
  async ModelDeployment(stage) {
    for (const factor of factors) await pushModel(stage, factor);
    return {
      kind: ModelDeployment,
      port: 5000,
      spec: (factor, replicas) => ({
        image: imageOf(stage.cluster.registry, factor),
        healthPath: '/v2/health/ready',
        replicas,
      }),
      begunBy: { kinds: 'pods', count: 2 },
    };
  },
};
