// ONNX models as values, and as the bytes of a file. The names of fields are ONNX' own; only what the models of the tests need
// is here. The same graph gives the same bytes, everywhere and always.

import { bytes, type Field, float, int, message } from './protobuf.ts';

/** Element types by ONNX' numbers for them. */
export const elementType = {
  FP32: 1,
  UINT8: 2,
  INT8: 3,
  UINT16: 4,
  INT16: 5,
  INT32: 6,
  INT64: 7,
  BYTES: 8,
  BOOL: 9,
  FP16: 10,
  FP64: 11,
  UINT32: 12,
  UINT64: 13,
} as const;
/** The name of an element type, as the inference protocol writes it. */
export type ElementType = keyof typeof elementType;

/** An input or an output. A dimension is a number, or the name of one that is free. */
export interface ValueInfo {
  name: string;
  type: ElementType;
  shape: readonly (number | string)[];
}

/** A tensor that is part of the model: raw little-endian bytes, or a place in a file beside it. */
export interface Initializer {
  name: string;
  type: ElementType;
  dims: readonly number[];
  data: Uint8Array | { file: string; offset: number; length: number };
}

/** An attribute of a node: whole numbers are integers, `{ float }` are floats. */
export type Attribute = number | string | readonly number[] | { float: number };

export interface Node {
  op: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes?: Readonly<Record<string, Attribute>>;
}

export interface Graph {
  name: string;
  inputs: readonly ValueInfo[];
  outputs: readonly ValueInfo[];
  initializers?: readonly Initializer[];
  nodes: readonly Node[];
}

const irVersion = 8;
const opset = 17;

/** The bytes of a model file. */
export const encoded = (graph: Graph): Buffer => Buffer.concat(pieces(graph));

/** The same bytes one after the other, with large weights left where they are. */
export const pieces = (graph: Graph): Uint8Array[] =>
  [
    int(1, irVersion),
    bytes(2, 'baton-tests'),
    message(7, [
      ...graph.nodes.map((node) => message(1, nodeFields(node))),
      bytes(2, graph.name),
      ...(graph.initializers ?? []).map((tensor) => message(5, tensorFields(tensor))),
      ...graph.inputs.map((value) => message(11, valueFields(value))),
      ...graph.outputs.map((value) => message(12, valueFields(value))),
    ]),
    message(8, [bytes(1, ''), int(2, opset)]),
  ].flat();

/** Floats as the bytes of an initializer. */
export const floats = (values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);

const nodeFields = ({ op, inputs, outputs, attributes = {} }: Node): Field[] => [
  ...inputs.map((name) => bytes(1, name)),
  ...outputs.map((name) => bytes(2, name)),
  bytes(3, outputs.join('+')),
  bytes(4, op),
  ...Object.entries(attributes).map(([name, value]) => message(5, [bytes(1, name), ...attributeFields(value)])),
];

function attributeFields(value: Attribute): Field[] {
  if (typeof value === 'number') return [int(3, value), int(20, 2)];
  if (typeof value === 'string') return [bytes(4, value), int(20, 3)];
  if ('float' in value) return [float(2, value.float), int(20, 1)];
  return [...value.map((one) => int(8, one)), int(20, 7)];
}

function tensorFields({ name, type, dims, data }: Initializer): Field[] {
  const head = [...dims.map((dim) => int(1, dim)), int(2, elementType[type]), bytes(8, name)];
  if (data instanceof Uint8Array) return [...head, bytes(9, data)];
  const entries = { location: data.file, offset: String(data.offset), length: String(data.length) };
  const external = Object.entries(entries).map(([key, value]) => message(13, [bytes(1, key), bytes(2, value)]));
  return [...head, ...external, int(14, 1)];
}

function valueFields({ name, type, shape }: ValueInfo): Field[] {
  const dims = shape.map((dim) => message(1, [typeof dim === 'number' ? int(1, dim) : bytes(2, dim)]));
  return [bytes(1, name), message(2, [message(1, [int(1, elementType[type]), message(2, dims)])])];
}
