// How many CPUs the container may use, as its control group says. Node knows this on its own only where the group is of the
// second version and lies where it looks; threads beyond the limit would only be held back by the kernel, all at once.

/** Gives the text of a file, or nothing where there is none. */
export type Read = (path: string) => string | undefined;

/** Whole CPUs within the limit, at least one and at most as many as there are. */
export function cpusWithin(cores: number, read: Read): number {
  const limit = second(read) ?? first(read) ?? cores;
  return Math.max(1, Math.min(cores, Math.floor(limit)));
}

/** `150000 100000` is one and a half; `max 100000` is no limit. */
function second(read: Read): number | undefined {
  const [quota, period] = read('/sys/fs/cgroup/cpu.max')?.trim().split(' ') ?? [];
  return ratio(quota, period);
}

/** A quota of -1 is no limit. */
function first(read: Read): number | undefined {
  const place = '/sys/fs/cgroup/cpu';
  return ratio(read(`${place}/cpu.cfs_quota_us`), read(`${place}/cpu.cfs_period_us`));
}

function ratio(quota: string | undefined, period: string | undefined): number | undefined {
  const limit = Number(quota) / Number(period);
  return limit > 0 && Number.isFinite(limit) ? limit : undefined;
}
