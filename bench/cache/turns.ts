// How long the event loop takes for a turn: the time that passed, which a busy machine makes longer, and the CPU time of
// our own thread in it, which is what we did ourselves (garbage collection on that thread included).

/** The longest turn so far, in milliseconds. */
export interface Turns {
  /** By the clock. */
  longest: number;
  /** By the CPU time of the thread. */
  work: number;
  stop(): void;
}

/** Looks at the clock every millisecond, that is, once in every turn that is longer. */
export function watchTurns(): Turns {
  let at = performance.now();
  let used = threadTime();
  const timer = setInterval(() => {
    const [now, usedNow] = [performance.now(), threadTime()];
    turns.longest = Math.max(turns.longest, now - at);
    turns.work = Math.max(turns.work, usedNow - used);
    [at, used] = [now, usedNow];
  }, 1);
  const turns: Turns = { longest: 0, work: 0, stop: () => clearInterval(timer) };
  return turns;
}

function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
