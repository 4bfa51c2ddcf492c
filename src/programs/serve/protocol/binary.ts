// Tensors as bytes, little-endian and side by side: the binary tensor extension of the protocol. Numbers are looked at where
// they lie when their place allows it; text has its length before every element.

import { Refusal } from './refusal.ts';
import { makerOf, sizeOf, type Tensor } from './types.ts';
import type { Expected } from './values.ts';

/** The tensor in these bytes. */
export function fromBytes(bytes: Buffer, expected: Expected): Tensor | Refusal {
  const { name, type, shape } = expected;
  if (type === 'BYTES') return texts(bytes, { ...expected, type });
  const maker = makerOf(type);
  const size = sizeOf(shape);
  if (bytes.length !== size * maker.BYTES_PER_ELEMENT)
    return new Refusal(
      `input "${name}" has ${bytes.length} bytes, but ${type} [${shape.join(',')}] has ${size * maker.BYTES_PER_ELEMENT}`,
    );
  if (type === 'BOOL' && bytes.some((byte) => byte > 1))
    return new Refusal(`input "${name}" has bytes other than 0 and 1, which are no BOOL`);
  const there = bytes.byteOffset % maker.BYTES_PER_ELEMENT === 0;
  const { buffer, byteOffset } = there ? bytes : new Uint8Array(bytes);
  return { type, shape, data: new maker(buffer, byteOffset, size) };
}

/** The bytes of a tensor. */
export function toBytes(tensor: Tensor): Uint8Array {
  if (tensor.type !== 'BYTES')
    return new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  const sizes = tensor.data.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + 4 + size, 0));
  let at = 0;
  for (const [index, text] of tensor.data.entries()) {
    at = bytes.writeUInt32LE(sizes[index] ?? 0, at);
    at += bytes.write(text, at);
  }
  return bytes;
}

/** onnxruntime takes text as Unicode here and cuts it at a zero, so other bytes would come out as something else. */
function texts(bytes: Buffer, { name, shape }: Expected & { type: 'BYTES' }): Tensor | Refusal {
  const wanted = sizeOf(shape);
  const found: string[] = [];
  let at = 0;
  while (at + 4 <= bytes.length && found.length < wanted) {
    const end = at + 4 + bytes.readUInt32LE(at);
    if (end > bytes.length) return new Refusal(`input "${name}": element ${found.length} ends behind the data`);
    const text = unicode(bytes.subarray(at + 4, end));
    if (text === undefined)
      return new Refusal(`input "${name}": element ${found.length} is no UTF-8 text without zeros`);
    found.push(text);
    at = end;
  }
  if (found.length < wanted || at < bytes.length)
    return new Refusal(`input "${name}" should have exactly ${wanted} elements, each behind its length of 4 bytes`);
  return { type: 'BYTES', shape, data: found };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function unicode(bytes: Buffer): string | undefined {
  try {
    return bytes.includes(0) ? undefined : decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
