// What a model takes and gives: names, types and shapes, as the protocol tells them to clients and as requests are held against.

import type { DataType } from './types.ts';

/** An input or an output. A dimension that is free has its name, which may be empty. */
export interface Port {
  readonly name: string;
  readonly type: DataType;
  readonly shape: readonly (number | string)[];
}

export interface Signature {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
}

/** `FP32 [batch,16]`. */
export const described = (type: string, shape: readonly (number | string)[]): string =>
  `${type} [${shape.map((dimension) => (dimension === '' ? '?' : dimension)).join(',')}]`;

/** Ports in words. */
export const listed = (ports: readonly Port[]): string =>
  ports.map(({ name, type, shape }) => `"${name}" ${described(type, shape)}`).join(', ');

/** Free dimensions are -1, as the protocol writes them. */
export const metadataOf = ({ inputs, outputs }: Signature) => {
  const port = ({ name, type, shape }: Port) => ({
    name,
    datatype: type,
    shape: shape.map((dimension) => (typeof dimension === 'number' ? dimension : -1)),
  });
  return { inputs: inputs.map(port), outputs: outputs.map(port) };
};

/**
 * Whether rows of several requests may be run as one: the first dimension of every input and every output is free and has the
 * same name. A model that mixes its rows nevertheless cannot be told from outside: `--batching=off` is for those.
 */
export function batchable({ inputs, outputs }: Signature): boolean {
  const ports = [...inputs, ...outputs];
  const first = ports[0]?.shape[0];
  return typeof first === 'string' && first !== '' && ports.every(({ shape }) => shape[0] === first);
}

/** Whether a tensor of this shape fits a port. */
export const fits = (shape: readonly number[], port: Port): boolean =>
  shape.length === port.shape.length &&
  port.shape.every((dimension, index) => typeof dimension === 'string' || dimension === shape[index]);
