// Just enough of the protobuf wire format to write an ONNX file: varints, 32-bit floats and length-delimited fields. A model
// is written by hand so that tests own every byte of it, and need no Python. Fields are kept in pieces: weights of
// hundreds of megabytes are never copied.

/** One field as it stands on the wire, in pieces; fields of a message follow each other in the order in which they are given. */
export type Field = readonly Uint8Array[];

/** A whole number. */
export const int = (field: number, value: number | bigint): Field => [
  varint(BigInt(field) << 3n),
  varint(BigInt(value)),
];

/** A 32-bit float. */
export function float(field: number, value: number): Field {
  const raw = Buffer.alloc(4);
  raw.writeFloatLE(value);
  return [varint((BigInt(field) << 3n) | 5n), raw];
}

/** Bytes or text. */
export const bytes = (field: number, value: Uint8Array | string): Field =>
  delimited(field, [typeof value === 'string' ? Buffer.from(value) : value]);

/** A message within a message. */
export const message = (field: number, fields: readonly Field[]): Field => delimited(field, fields.flat());

function delimited(field: number, pieces: readonly Uint8Array[]): Field {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return [varint((BigInt(field) << 3n) | 2n), varint(BigInt(length)), ...pieces];
}

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
