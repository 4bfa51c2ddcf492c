// The public client of the inference protocol, with its binary default: every number of every type must be right.

import { equal } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { echoModel } from '../kit/onnx/models.ts';
import { type Python, pythonWith } from '../kit/python.ts';
import { modelFolder, startServe } from '../kit/serve.ts';

const here = join(import.meta.dirname, 'tritonclient');

async function runClient({ program, environment }: Python, address: string) {
  const child = spawn(program, [join(here, 'client.py'), address], { env: environment, timeout: 120_000 });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

for (const batching of ['auto', 'off'] as const)
  test(`tritonclient gets its numbers back, with batching ${batching}`, { timeout: 900_000 }, async (context) => {
    const python = await pythonWith(join(here, 'requirements.txt'), (line) => context.diagnostic(line));
    using folder = modelFolder({ 'model.onnx': echoModel() });
    await using server = await startServe({ model: folder.path, batching });
    const { code, said } = await runClient(python, `127.0.0.1:${server.port}`);
    equal(code, 0, said);
    context.diagnostic(said.trim().replaceAll('\n', '; '));
  });
