// resourceVersions of one resource are comparable as decimal numbers (KEP-5504). They outgrow a JavaScript number's
// exactness in theory, so they are compared as text: shorter is smaller.

/** Negative when `a` is older than `b`, zero when they are the same. */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}
