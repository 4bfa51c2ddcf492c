// A loaded model: one onnxruntime session, what it takes and gives, and one way to run it. Outputs that are no tensors
// (maps and sequences, as some exporters add them) are left out, because the protocol cannot carry them.

import { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { wordsOf } from '../../../base/index.ts';
import type { Port, Signature } from '../protocol/signature.ts';
import { dataTypeOf, ortTypeOf, type Tensor } from '../protocol/types.ts';
import { ModelFailure } from './failure.ts';

/** Runs a model. Inputs are in the order of the signature, outputs in that of the asked names. */
export interface Runner {
  run(inputs: readonly Tensor[], outputs: readonly string[]): Promise<Tensor[]>;
  release(): Promise<void>;
}

export interface Loaded extends Runner {
  signature: Signature;
}

/** Loads a model file; `threads` work on one run. */
export async function loadModel(file: string, threads: number): Promise<Loaded> {
  const session = await open(file, threads);
  const signature = signatureOf(session, file);
  const { inputs } = signature;
  return {
    signature,
    async run(tensors, outputs) {
      const feeds = Object.create(null) as Record<string, OrtTensor>;
      for (const [index, { name }] of inputs.entries()) feeds[name] = ortTensor(tensors[index] as Tensor);
      const results = await session.run(feeds, outputs as string[]);
      return outputs.map((name) => fromOrt(results[name] as OrtTensor));
    },
    release: () => session.release(),
  };
}

/** Threads that wait for work by spinning would use up a CPU limit for nothing. */
const calm = { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } };

async function open(file: string, threads: number): Promise<InferenceSession> {
  try {
    return await InferenceSession.create(file, {
      executionProviders: ['cpu'],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 3,
      extra: calm,
    });
  } catch (error) {
    throw new ModelFailure(`${file} is no ONNX model that can be loaded: ${wordsOf(error)}`, { cause: error });
  }
}

function signatureOf(session: InferenceSession, file: string): Signature {
  const ports = (all: readonly InferenceSession.ValueMetadata[]) =>
    all.flatMap((value) => (value.isTensor ? [portOf(value, file)] : []));
  const odd = session.inputMetadata.find(({ isTensor }) => !isTensor);
  if (odd) throw new ModelFailure(`${file}: input "${odd.name}" is no tensor, which no client could send`);
  const signature = { inputs: ports(session.inputMetadata), outputs: ports(session.outputMetadata) };
  if (signature.outputs.length === 0) throw new ModelFailure(`${file} has no output that is a tensor`);
  return signature;
}

function portOf({ name, type, shape }: InferenceSession.TensorValueMetadata, file: string): Port {
  const known = dataTypeOf(type);
  if (known === undefined)
    throw new ModelFailure(`${file}: "${name}" is of type ${type}, for which the inference protocol has no name`);
  return { name, type: known, shape };
}

/**
 * Halves go as a plain object of the same form: the library would make a Float16Array of their bits, of which its native part
 * takes no element (onnxruntime-node 1.30 on Node 24).
 */
function ortTensor({ type, data, shape }: Tensor): OrtTensor {
  if (type === 'FP16') return { type: 'float16', data, dims: shape, location: 'cpu' } as unknown as OrtTensor;
  return new OrtTensor(ortTypeOf(type) as 'float32', data as Float32Array, shape);
}

function fromOrt({ type, data, dims }: OrtTensor): Tensor {
  const known = dataTypeOf(type);
  if (known !== 'FP16') return { type: known, shape: dims, data } as Tensor;
  const { buffer, byteOffset, length } = data as Uint16Array;
  return { type: known, shape: dims, data: new Uint16Array(buffer, byteOffset, length) };
}
