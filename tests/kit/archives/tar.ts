// Tar archives byte by byte: what no honest program writes can be written here.

/** One entry; everything that is not said is as an honest program would say it. */
export interface TarEntry {
  name: string;
  content?: string | Buffer;
  /** One character: 0 file, 1 hard link, 2 symbolic link, 3 and 4 devices, 5 folder, 6 pipe, x pax, L long name, S sparse. */
  type?: string;
  link?: string;
  /** Instead of the length of the content. */
  size?: number | Buffer;
  prefix?: string;
  checksum?: string;
}

const block = 512;
const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes], Math.ceil(bytes.length / block) * block);

/** The bytes of one entry. */
export function tarEntry(entry: TarEntry): Buffer {
  const content = Buffer.from(entry.content ?? '');
  const head = Buffer.alloc(block);
  head.write(entry.name, 0, 100, 'utf8');
  head.write('0000644\0', 100);
  head.write('0000000\0', 108);
  head.write('0000000\0', 116);
  const size = entry.size ?? content.length;
  if (typeof size === 'number') head.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  else size.copy(head, 124);
  head.write('00000000000\0', 136);
  head.write(entry.type ?? '0', 156);
  head.write(entry.link ?? '', 157, 100, 'utf8');
  head.write('ustar\0', 257, 'latin1');
  head.write('00', 263);
  head.write(entry.prefix ?? '', 345, 155, 'utf8');
  head.write('        ', 148);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(entry.checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([head, padded(content)]);
}

/** A whole archive, with its end. */
export const tar = (...entries: readonly (TarEntry | Buffer)[]): Buffer =>
  Buffer.concat([
    ...entries.map((entry) => (Buffer.isBuffer(entry) ? entry : tarEntry(entry))),
    Buffer.alloc(2 * block),
  ]);

/** An extended header for the entry behind it. */
export function pax(fields: Readonly<Record<string, string>>, type = 'x'): Buffer {
  const lines = Object.entries(fields).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`);
    const length = [1, 2, 3, 4, 5, 6].find((digits) => String(rest + digits).length === digits) ?? 7;
    return `${rest + length} ${key}=${value}\n`;
  });
  return tarEntry({ name: 'PaxHeader', type, content: lines.join('') });
}

/** A name of any length in GNU's way. */
export const longName = (name: string): Buffer => tarEntry({ name: '././@LongLink', type: 'L', content: `${name}\0` });
