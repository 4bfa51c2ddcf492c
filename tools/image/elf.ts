// Just enough of the format of Linux programs and libraries to know what one needs to run, and to leave out what it does
// not need: symbols and debug data lie behind everything that is ever loaded.

/** What a program or library says about itself. */
export interface Elf {
  /** The loader that it asks for; libraries ask for none. */
  interpreter?: string;
  /** Libraries, by the names under which they are searched for. */
  needed: string[];
  /** Folders in which they are searched for first; `$ORIGIN` is that of the file itself. */
  runpath: string[];
  /** The first byte behind all that is loaded. */
  end: number;
}

interface Segment {
  type: number;
  offset: number;
  address: number;
  size: number;
}

const segment = { load: 1, dynamic: 2, interpreter: 3 };
const tag = { needed: 1, strings: 5, rpath: 15, runpath: 29 };

/** Whether bytes are a 64-bit program or library, little end first, as all that we ship for are. */
export const isElf = (bytes: Buffer): boolean => bytes.length > 64 && bytes.readUInt32BE(0) === 0x7f454c46;

/** Reads the head of a program or library. */
export function readElf(bytes: Buffer): Elf {
  if (!isElf(bytes) || bytes[4] !== 2 || bytes[5] !== 1) throw new Error('not a 64-bit program for Linux');
  const segments = segmentsOf(bytes);
  const own = segments.find(({ type }) => type === segment.interpreter);
  const dynamic = dynamicOf(bytes, segments);
  const strings = offsetOf(segments, dynamic.find(([key]) => key === tag.strings)?.[1] ?? 0);
  const texts = (...keys: number[]) =>
    dynamic.filter(([key]) => keys.includes(key)).map(([, value]) => text(bytes, strings + value));
  return {
    ...(own && { interpreter: text(bytes, own.offset) }),
    needed: texts(tag.needed),
    runpath: texts(tag.rpath, tag.runpath).flatMap((paths) => paths.split(':')),
    end: Math.max(tableEnd(bytes), ...segments.map(({ offset, size }) => offset + size)),
  };
}

/** The same program without what is never loaded. */
export function trimmed(bytes: Buffer): Buffer {
  const kept = Buffer.from(bytes.subarray(0, readElf(bytes).end));
  kept.writeBigUInt64LE(0n, 0x28); // there is no table of sections any more,
  kept.writeUInt32LE(0, 0x3c); // and it has no entries
  return kept;
}

const number = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at));

function segmentsOf(bytes: Buffer): Segment[] {
  const [first, size, count] = [number(bytes, 0x20), bytes.readUInt16LE(0x36), bytes.readUInt16LE(0x38)];
  return Array.from({ length: count }, (_, index) => first + index * size).map((at) => ({
    type: bytes.readUInt32LE(at),
    offset: number(bytes, at + 8),
    address: number(bytes, at + 16),
    size: number(bytes, at + 32),
  }));
}

const tableEnd = (bytes: Buffer): number => number(bytes, 0x20) + bytes.readUInt16LE(0x36) * bytes.readUInt16LE(0x38);

function dynamicOf(bytes: Buffer, segments: readonly Segment[]): [number, number][] {
  const found = segments.find(({ type }) => type === segment.dynamic);
  if (!found) return [];
  const entries = Array.from({ length: Math.floor(found.size / 16) }, (_, index) => found.offset + index * 16);
  return entries.map((at) => [number(bytes, at), number(bytes, at + 8)]);
}

/** Where in the file lies what is loaded at an address. */
function offsetOf(segments: readonly Segment[], address: number): number {
  const holds = (one: Segment) =>
    one.type === segment.load && address >= one.address && address < one.address + one.size;
  const found = segments.find(holds);
  return found ? address - found.address + found.offset : 0;
}

const text = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, bytes.indexOf(0, at));
