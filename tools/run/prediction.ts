// Asks the iris model about a flower, by the very line that is shown, and compares the answer with the same sums done here.

import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { childName, type MLModel } from '../../src/api/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { Service } from '../../src/objects/index.ts';
import { iris, irisProbabilities } from '../../tests/kit/onnx/models.ts';

/** Versicolor, of which the model is least sure. */
const flower = iris.flowers[1] ?? [];
/** kube-proxy learns of a new server a moment after the API server. */
const patience = 20_000;
/** Single floats have seven digits. */
const precision = 1e-5;

interface Answer {
  outputs: { name: string; data: number[] }[];
}

/** The line, what it gave, and what that means; throws where the numbers are wrong. */
export async function irisPrediction(admin: Client, { metadata }: MLModel, node: string): Promise<string> {
  const { name, namespace = '' } = metadata;
  const { spec } = await admin.get(Service, { namespace, name: childName(name, 'expose') });
  const line = lineFor(`http://${node}:${spec.ports?.[0]?.nodePort}`);
  const text = await answerTo(line);
  return `$ ${line}\n${text.trim()}\n\n${meaningOf(text)}`;
}

function lineFor(url: string): string {
  const inputs = [{ name: 'measurements', datatype: 'FP32', shape: [1, flower.length], data: flower }];
  return `curl -sS --max-time 5 ${url}/v2/models/model/infer -d '${JSON.stringify({ inputs })}'`;
}

async function answerTo(line: string): Promise<string> {
  const end = performance.now() + patience;
  for (;;)
    try {
      const { stdout } = await promisify(execFile)('sh', ['-c', line], { timeout: 10_000 });
      return stdout;
    } catch (error) {
      if (performance.now() > end) throw error;
      await pause(250);
    }
}

function meaningOf(text: string): string {
  const { outputs = [] } = JSON.parse(text) as Partial<Answer>;
  const found = outputs.find(({ name }) => name === 'probabilities')?.data ?? [];
  const expected = irisProbabilities(flower);
  if (!expected.every((value, index) => Math.abs(value - (found[index] ?? Number.NaN)) < precision))
    throw new Error(`the model answered ${text.trim()}, and not the probabilities ${expected.join(', ')}`);
  const best = found.indexOf(Math.max(...found));
  return `A flower with a sepal of ${flower[0]} x ${flower[1]} cm and a petal of ${flower[2]} x ${flower[3]} cm is an iris ${iris.species[best]}, by ${Math.round((found[best] ?? 0) * 100)} %.`;
}
