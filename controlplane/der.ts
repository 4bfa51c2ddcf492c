// The few pieces of DER that a certificate consists of. Node can sign and check certificates but not write them,
// and writing them takes fewer lines than a library takes packages.

import { Buffer } from 'node:buffer';

/** One element: tag, length, content. */
export function element(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(evenHex(body.length), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

/** SEQUENCE. */
export const sequence = (...content: Uint8Array[]): Buffer => element(0x30, ...content);

/** SET. */
export const set = (...content: Uint8Array[]): Buffer => element(0x31, ...content);

/** INTEGER of these bytes, which must not begin with a set bit. */
export const integer = (...bytes: number[]): Buffer => element(0x02, Buffer.from(bytes));

/** BOOLEAN TRUE. */
export const yes: Buffer = element(0x01, Buffer.from([0xff]));

/** BIT STRING with so many unused bits at its end. */
export const bits = (unused: number, content: Uint8Array): Buffer => element(0x03, Buffer.from([unused]), content);

/** OCTET STRING. */
export const octets = (content: Uint8Array): Buffer => element(0x04, content);

/** UTF8String. */
export const text = (value: string): Buffer => element(0x0c, Buffer.from(value, 'utf8'));

/** UTCTime, which ends with the year 2049. */
export const time = (date: Date): Buffer =>
  element(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));

/** OBJECT IDENTIFIER, from its dotted form. */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(septets)]));
}

/** Base 128, all but the last byte marked. */
function septets(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

const evenHex = (value: number): string => {
  const digits = value.toString(16);
  return digits.padStart(digits.length + (digits.length % 2), '0');
};
