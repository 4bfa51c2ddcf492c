// The small model of the rows on real nodes: what it weighs, and whether what serves gives its numbers. Every version of it
// gives the same ones, so that a row can ask at any moment, whatever is being done to the model.

import { setTimeout as pause } from 'node:timers/promises';
import type { RealCluster } from '../../controlplane/node/index.ts';
import { iris, irisModel, irisProbabilities } from '../kit/onnx/models.ts';
import { bytes } from '../kit/onnx/protobuf.ts';
import { call } from './pods.ts';

/** The model with so many MiB of what every reader passes over. */
export const heavyIris = (mebibytes: number): Buffer =>
  Buffer.concat([irisModel(), ...bytes(1_999, Buffer.alloc(mebibytes * 1024 ** 2, 'ballast '))]);

/** Whose model it is. */
interface Served {
  cluster: RealCluster;
  namespace: string;
  name: string;
}

/** What is wrong with the answer of whatever serves; undefined: nothing. */
export async function wrongAnswer({ cluster, namespace, name }: Served): Promise<string | undefined> {
  const [data = []] = iris.flowers;
  const inputs = [{ name: 'measurements', datatype: 'FP32', shape: [1, 4], data }];
  const path = `/api/v1/namespaces/${namespace}/services/${name}-service:8080/proxy/v2/models/model/infer`;
  try {
    const { outputs } = await call<{ outputs: { name: string; data: number[] }[] }>(cluster, 'POST', path, { inputs });
    const found = outputs.find((output) => output.name === 'probabilities')?.data ?? [];
    const right = irisProbabilities(data).every((value, index) => Math.abs(value - (found[index] ?? 9)) < 1e-5);
    return right ? undefined : `other numbers: ${found.join(' ')}`;
  } catch (error) {
    return String(error);
  }
}

/** Asks a few times a second until it is stopped, and then tells how often, and what was wrong. */
export function askMeanwhile(served: Served): { stop(): Promise<{ asked: number; wrong: string[] }> } {
  const seen = { asked: 0, wrong: [] as string[] };
  const stopping = new AbortController();
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      const wrong = await wrongAnswer(served);
      seen.asked++;
      if (wrong !== undefined) seen.wrong.push(wrong);
      await pause(200);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await asking;
      return seen;
    },
  };
}
