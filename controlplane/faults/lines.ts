// A watch is a stream of lines. This cuts it at line ends and nowhere else, so that a plan may begin in the middle of
// a stream, and hands whole lines on in as few pieces as they came.

const newline = 0x0a;

/** A function that takes chunks and gives back all lines that are complete, with their ends, as one buffer. */
export function wholeLines(): (chunk: Buffer) => Buffer {
  let rest: Buffer[] = [];
  return (chunk) => {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end === 0) {
      rest.push(chunk);
      return Buffer.alloc(0);
    }
    const block = rest.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...rest, chunk.subarray(0, end)]);
    rest = end < chunk.length ? [chunk.subarray(end)] : [];
    return block;
  };
}

/** The lines of a block, each with its end. */
export function* linesOf(block: Buffer): Generator<Buffer> {
  for (let start = 0; start < block.length; ) {
    const end = block.indexOf(newline, start) + 1;
    yield block.subarray(start, end);
    start = end;
  }
}

/** The line in parts that split it in the middle, before its end, and inside every character of more than one byte. */
export function awkwardParts(line: Buffer): Buffer[] {
  const inside = [...line.keys()].filter(
    (index) => index > 0 && (line[index] ?? 0) >= 0x80 && (line[index] ?? 0) < 0xc0,
  );
  const cuts = [...new Set([Math.floor(line.length / 2), line.length - 1, ...inside])].toSorted((a, b) => a - b);
  return [...cuts, line.length].map((cut, index) => line.subarray(index === 0 ? 0 : cuts[index - 1], cut));
}
