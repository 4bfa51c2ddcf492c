// Several requests as one run: rows of equal shape laid one after the other, and the results cut apart again. Pure, so that
// it can be tried with everything: a row must never end up with somebody else.

import { makerOf, sizeOf, type Tensor } from '../protocol/types.ts';

/** Rows of one request: the first dimension, if all tensors share it. */
export function rowsOf(tensors: readonly Tensor[]): number | undefined {
  const rows = tensors[0]?.shape[0];
  return rows !== undefined && tensors.every(({ shape }) => shape[0] === rows) ? rows : undefined;
}

/** Equal for requests whose rows may lie in one tensor: the same shapes but for the first dimension, and the same outputs. */
export const likenessOf = (tensors: readonly Tensor[], outputs: readonly string[]): string =>
  `${tensors.map(({ shape }) => shape.slice(1).join('x')).join(' ')} ${outputs.join('\0')}`;

/** One tensor with the rows of all. */
export function joined(tensors: readonly Tensor[]): Tensor {
  const [first, ...others] = tensors;
  if (!first) throw new TypeError('nothing to join');
  if (others.length === 0) return first;
  const shape = [tensors.reduce((sum, one) => sum + (one.shape[0] ?? 0), 0), ...first.shape.slice(1)];
  if (first.type === 'BYTES') return { type: 'BYTES', shape, data: tensors.flatMap(({ data }) => data as string[]) };
  const data = new (makerOf(first.type))(sizeOf(shape)) as Float32Array;
  let at = 0;
  for (const one of tensors) {
    data.set(one.data as Float32Array, at);
    at += one.data.length;
  }
  return { type: first.type, shape, data };
}

/** The rows of each again; undefined when the tensor has not as many rows as went in. */
export function split(tensor: Tensor, rows: readonly number[]): Tensor[] | undefined {
  const total = rows.reduce((sum, count) => sum + count, 0);
  if (tensor.shape[0] !== total) return undefined;
  const width = sizeOf(tensor.shape.slice(1));
  let at = 0;
  return rows.map((count) => {
    const begin = at;
    at += count * width;
    const shape = [count, ...tensor.shape.slice(1)];
    if (tensor.type === 'BYTES') return { type: tensor.type, shape, data: tensor.data.slice(begin, at) };
    return { type: tensor.type, shape, data: tensor.data.subarray(begin, at) };
  });
}
