// Several pieces of work at once, but not too many; and when one fails, the others are ended before the error goes on, so
// that nothing works on behind the caller's back.

/** Works on all items, at most `atOnce` at a time. `work` is to end when its signal aborts. */
export async function together<T>(
  items: readonly T[],
  { atOnce, signal }: { atOnce: number; signal?: AbortSignal | undefined },
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const ended = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) {
      if (failed.signal.aborted) return;
      await work(item, ended).catch((error: unknown) => failed.abort(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  if (failed.signal.aborted) throw failed.signal.reason;
}
