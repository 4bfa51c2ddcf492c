// A model in a thread of its own. onnxruntime's binding for Node runs a model on the thread that asks for it, so a long run would
// keep the server from answering probes. Handing over costs some 25 us a run, so only long runs go this way: see engine.ts.

import { type MessagePort, Worker } from 'node:worker_threads';
import { asError, wordsOf } from '../../../base/index.ts';
import type { Signature } from '../protocol/signature.ts';
import type { Tensor } from '../protocol/types.ts';
import { ModelFailure } from './failure.ts';
import { type Loaded, loadModel } from './session.ts';

/** What such a thread is started with. */
export interface ThreadOrder {
  file: string;
  threads: number;
}

type Told = { loaded: Signature } | { failed: string } | { outputs: Tensor[] } | { error: string };
interface Asked {
  inputs: readonly Tensor[];
  outputs: readonly string[];
}

/** Starts the program once more as a thread, which `beThread` makes a runner of, and loads the model there. */
export async function loadInThread(program: string, order: ThreadOrder, lost: (error: Error) => void): Promise<Loaded> {
  const worker = new Worker(program, { argv: ['serve'], workerData: order });
  worker.on('error', lost);
  const next = () => new Promise<Told>((resolve) => worker.once('message', resolve));
  const told = await next();
  if (!('loaded' in told)) throw new ModelFailure('failed' in told ? told.failed : 'the thread said nothing of use');
  return {
    signature: told.loaded,
    async run(tensors, outputs) {
      const inputs = tensors.map(movable);
      worker.postMessage({ inputs, outputs } satisfies Asked, memoryOf(inputs));
      const answer = await next();
      if ('outputs' in answer) return answer.outputs;
      throw new Error('error' in answer ? answer.error : 'the thread said nothing of use');
    },
    release: async () => void (await worker.terminate()),
  };
}

/** The life of the thread: one question at a time, as they come. */
export async function beThread(port: MessagePort, { file, threads }: ThreadOrder): Promise<void> {
  const tell = (told: Told, memory: ArrayBuffer[] = []) => port.postMessage(told, memory);
  let model: Loaded;
  try {
    model = await loadModel(file, threads);
  } catch (error) {
    return tell({ failed: asError(error).message });
  }
  port.on('message', ({ inputs, outputs }: Asked) => {
    model.run(inputs, outputs).then(
      (results) => tell({ outputs: results }, memoryOf(results)),
      (error: unknown) => tell({ error: wordsOf(error) }),
    );
  });
  tell({ loaded: model.signature });
}

/** With memory of its own, which can be given away; a view into a larger one would take that along. */
function movable(tensor: Tensor): Tensor {
  if (tensor.type === 'BYTES' || tensor.data.byteLength === tensor.data.buffer.byteLength) return tensor;
  return { ...tensor, data: tensor.data.slice() };
}

const memoryOf = (tensors: readonly Tensor[]): ArrayBuffer[] =>
  tensors.flatMap((tensor) => (tensor.type === 'BYTES' ? [] : [tensor.data.buffer as ArrayBuffer]));
