// Pieces of bytes put together, within bounds.

/** All pieces as one; `most` bytes, or the error that `over` makes. */
export async function whole(
  pieces: AsyncIterable<Uint8Array>,
  most = Number.POSITIVE_INFINITY,
  over: (size: number) => Error = (size) => new Error(`${size} bytes are too many`),
): Promise<Buffer> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > most) throw over(size);
    all.push(piece);
  }
  return Buffer.concat(all);
}
