// A first run with nothing in it, before anybody is served: onnxruntime allocates and plans at the first run of a shape.

import type { Port, Signature } from '../protocol/signature.ts';
import { makerOf, sizeOf, type Tensor } from '../protocol/types.ts';
import type { Runner } from './session.ts';

/** A tensor of zeros, or of empty text; free dimensions are 1. */
export function blank({ type, shape }: Port): Tensor {
  const sizes = shape.map((dimension) => (typeof dimension === 'number' ? dimension : 1));
  const size = sizeOf(sizes);
  if (type === 'BYTES') return { type, shape: sizes, data: Array.from({ length: size }, () => '') };
  return { type, shape: sizes, data: new (makerOf(type))(size) };
}

/** Runs the model once; throws when it cannot run on zeros, which says nothing about other inputs. */
export async function warm(runner: Runner, { inputs, outputs }: Signature): Promise<void> {
  await runner.run(
    inputs.map(blank),
    outputs.map(({ name }) => name),
  );
}
