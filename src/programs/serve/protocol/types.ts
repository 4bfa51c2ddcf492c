// The element types of tensors: how the inference protocol calls them, how onnxruntime does, and how their elements lie in
// memory. Halves are kept as their bits: onnxruntime takes them so, and only JSON needs their values.

import type { InferenceSession } from 'onnxruntime-node';

type OrtType = Extract<InferenceSession.ValueMetadata, { isTensor: true }>['type'];

interface Layout {
  ort: OrtType;
  array: NumbersMaker;
}

const layouts = {
  BOOL: { ort: 'bool', array: Uint8Array },
  UINT8: { ort: 'uint8', array: Uint8Array },
  UINT16: { ort: 'uint16', array: Uint16Array },
  UINT32: { ort: 'uint32', array: Uint32Array },
  UINT64: { ort: 'uint64', array: BigUint64Array },
  INT8: { ort: 'int8', array: Int8Array },
  INT16: { ort: 'int16', array: Int16Array },
  INT32: { ort: 'int32', array: Int32Array },
  INT64: { ort: 'int64', array: BigInt64Array },
  FP16: { ort: 'float16', array: Uint16Array },
  FP32: { ort: 'float32', array: Float32Array },
  FP64: { ort: 'float64', array: Float64Array },
} as const satisfies Record<string, Layout>;

/** A type whose elements all have the same size. */
export type NumberType = keyof typeof layouts;
/** An element type by the protocol's name for it. */
export type DataType = NumberType | 'BYTES';

/** Elements of one size, side by side. */
export type Numbers =
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Float32Array
  | Float64Array;

/** Makes such an array anew, or over memory that is there. */
export interface NumbersMaker {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): Numbers;
  new (buffer: ArrayBufferLike, offset: number, length: number): Numbers;
}

/** A tensor. Text is kept as strings, as onnxruntime takes it. */
export type Tensor = { readonly shape: readonly number[] } & (
  | { readonly type: NumberType; readonly data: Numbers }
  | { readonly type: 'BYTES'; readonly data: readonly string[] }
);

/** How elements of a type lie in memory. */
export const makerOf = (type: NumberType): NumbersMaker => layouts[type].array;

/** onnxruntime's name of a type. */
export const ortTypeOf = (type: DataType): OrtType => (type === 'BYTES' ? 'string' : layouts[type].ort);

/** The protocol's name of an onnxruntime type; undefined for types that no client can send. */
export function dataTypeOf(ort: string): DataType | undefined {
  if (ort === 'string') return 'BYTES';
  return (Object.keys(layouts) as NumberType[]).find((type) => layouts[type].ort === ort);
}

/** How many elements a shape has; one for a scalar. */
export const sizeOf = (shape: readonly number[]): number =>
  shape.reduce((product, dimension) => product * dimension, 1);

interface Halves extends Iterable<number> {
  readonly buffer: ArrayBuffer;
}
const { Float16Array: HalfArray } = globalThis as unknown as {
  Float16Array: {
    new (values: readonly number[]): Halves;
    new (buffer: ArrayBufferLike, offset: number, length: number): Halves;
  };
};

/** The bits of halves that are nearest to these numbers. */
export const halvesFrom = (values: readonly number[]): Uint16Array => new Uint16Array(new HalfArray(values).buffer);

/** The numbers that these halves stand for. */
export const fromHalves = ({ buffer, byteOffset, length }: Uint16Array): number[] =>
  Array.from(new HalfArray(buffer, byteOffset, length));
