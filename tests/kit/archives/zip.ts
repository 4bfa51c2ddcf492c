// Zip archives byte by byte, with every lie that the two headers of an entry can tell.

import { crc32, deflateRawSync } from 'node:zlib';

/** One entry. `local` and `central` are what one of the headers says instead. */
export interface ZipEntry {
  name: string | Buffer;
  content?: string | Buffer;
  method?: 'stored' | 'deflated' | number;
  /** Unix mode with the type of the file. */
  mode?: number;
  flags?: number;
  local?: Partial<ZipFields>;
  central?: Partial<ZipFields>;
}

interface ZipFields {
  name: string;
  size: number;
  packed: number;
  crc: number;
  method: number;
  flags: number;
  offset: number;
  extra: Buffer;
}

interface EndFields {
  entries?: number;
  comment?: Buffer;
  /** A zip64 record that says so many entries. */
  zip64Entries?: bigint;
}

/** A whole archive. */
export function zip(entries: readonly ZipEntry[], end: EndFields = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { fields, data } = prepared(entry);
    const local = localHeader({ ...fields, ...entry.local });
    bodies.push(local, data);
    directory.push(centralHeader({ ...fields, offset, ...entry.central }, entry.mode ?? 0o100644));
    offset += local.length + data.length;
  }
  const central = Buffer.concat(directory);
  const count = end.entries ?? entries.length;
  return Buffer.concat([
    ...bodies,
    central,
    ...zip64(end.zip64Entries, central.length, offset),
    endRecord(count, central.length, offset, end.comment),
  ]);
}

function prepared({ name, content = '', method = 'stored', flags = 0x800 }: ZipEntry): {
  fields: ZipFields;
  data: Buffer;
} {
  const bytes = Buffer.from(content);
  const number = method === 'stored' ? 0 : method === 'deflated' ? 8 : method;
  const data = number === 8 ? deflateRawSync(bytes, { level: 9 }) : bytes;
  const text = typeof name === 'string' ? name : name.toString('latin1');
  const sizes = { size: bytes.length, packed: data.length, crc: crc32(bytes) };
  const encoded = typeof name === 'string' ? {} : { raw: name };
  return {
    fields: { name: text, ...sizes, method: number, flags, offset: 0, extra: Buffer.alloc(0), ...encoded },
    data,
  };
}

const rawName = (fields: ZipFields & { raw?: Buffer }): Buffer => fields.raw ?? Buffer.from(fields.name);

function localHeader(fields: ZipFields): Buffer {
  const name = rawName(fields);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(fields.flags, 6);
  head.writeUInt16LE(fields.method, 8);
  head.writeUInt32LE(fields.crc, 14);
  head.writeUInt32LE(fields.packed, 18);
  head.writeUInt32LE(fields.size, 22);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, name]);
}

function centralHeader(fields: ZipFields, mode: number): Buffer {
  const name = rawName(fields);
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(0x0314, 4);
  head.writeUInt16LE(20, 6);
  head.writeUInt16LE(fields.flags, 8);
  head.writeUInt16LE(fields.method, 10);
  head.writeUInt32LE(fields.crc, 16);
  head.writeUInt32LE(fields.packed, 20);
  head.writeUInt32LE(fields.size, 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt16LE(fields.extra.length, 30);
  head.writeUInt32LE(mode * 0x10000, 38);
  head.writeUInt32LE(fields.offset, 42);
  return Buffer.concat([head, name, fields.extra]);
}

function zip64(entries: bigint | undefined, size: number, offset: number): Buffer[] {
  if (entries === undefined) return [];
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(entries, 24);
  record.writeBigUInt64LE(entries, 32);
  record.writeBigUInt64LE(BigInt(size), 40);
  record.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  return [record, locator];
}

function endRecord(entries: number, size: number, offset: number, comment: Buffer = Buffer.alloc(0)): Buffer {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(entries, 8);
  record.writeUInt16LE(entries, 10);
  record.writeUInt32LE(size, 12);
  record.writeUInt32LE(offset, 16);
  record.writeUInt16LE(comment.length, 20);
  return Buffer.concat([record, comment]);
}
