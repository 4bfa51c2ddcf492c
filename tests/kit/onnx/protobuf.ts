// Just enough of the protobuf wire format to write an ONNX file: varints, 32-bit floats and length-delimited fields. A model
// is written by hand so that tests own every byte of it, and need no Python.

/** One field, as it stands on the wire; fields of a message are joined in the order in which they are given. */
export type Field = Uint8Array;

/** A whole number. */
export const int = (field: number, value: number | bigint): Field =>
  Buffer.concat([varint(BigInt(field) << 3n), varint(BigInt(value))]);

/** A 32-bit float. */
export function float(field: number, value: number): Field {
  const raw = Buffer.alloc(4);
  raw.writeFloatLE(value);
  return Buffer.concat([varint((BigInt(field) << 3n) | 5n), raw]);
}

/** Bytes or text. */
export function bytes(field: number, value: Uint8Array | string): Field {
  const raw = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varint((BigInt(field) << 3n) | 2n), varint(BigInt(raw.length)), raw]);
}

/** A message within a message. */
export const message = (field: number, fields: readonly Field[]): Field => bytes(field, Buffer.concat(fields));

function varint(value: bigint): Buffer {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return Buffer.from(out);
}
