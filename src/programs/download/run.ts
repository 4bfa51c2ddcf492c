// A download from the order to the last word: what is complete already is left alone, a source is looked at, its files are
// fetched, checked, unpacked, and given their places.

import { createHash } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { arrangementOf, type LastWord, type Progress } from '../../api/contract.ts';
import {
  type Clock,
  type DialOptions,
  egressRules,
  Hasher,
  type Log,
  NoCertificate,
  type Resolve,
  trusting,
} from '../../base/index.ts';
import { assemble } from './assemble.ts';
import { readConfigs, readSecrets, type Secrets } from './credentials.ts';
import { decoded } from './decode.ts';
import { digestOf } from './digest.ts';
import { Blocks } from './fetch/blocks.ts';
import { type Fetched, fetchItem, type Item, type Kit } from './fetch/item.ts';
import { Lanes } from './fetch/lanes.ts';
import { Meter } from './fetch/meter.ts';
import { Client } from './http/client.ts';
import type { Order } from './order.ts';
import { Refused } from './outcome.ts';
import { lookAt } from './sources/index.ts';
import type { Plan } from './sources/source.ts';
import { explained, roomFor } from './volume/space.ts';
import { type Complete, Volume } from './volume/volume.ts';

/** What a download finds around itself. */
export interface Surroundings {
  clock: Clock;
  random: () => number;
  log: Log;
  resolve: Resolve;
  /** What it runs on, by the words of Node. */
  machine: { platform: string; arch: string };
  /** Where the API server answers. */
  apiServer: readonly string[];
  signal: AbortSignal;
  /** Told about once a second. */
  progress: (progress: Progress) => void;
}

const blockSize = 1024 * 1024;

/** Runs a download to its end. What it throws is a refusal, a fault, or a surprise. */
export async function download(order: Order, around: Surroundings): Promise<Extract<LastWord, { result: 'done' }>> {
  const volume = new Volume(order.target);
  const source = createHash('sha256')
    .update(`${arrangementOf(order.framework)}\n${order.url}`)
    .digest('hex');
  try {
    const before = await volume.open(source);
    if (before && (order.digest === undefined || order.digest === before.digest)) return done(before);
    if (before) await volume.forget(before);
    return done(await fetched(order, around, volume, source));
  } catch (error) {
    throw await explained(error, order.target, undefined);
  }
}

const done = ({ digest, bytes }: Complete): Extract<LastWord, { result: 'done' }> => ({
  result: 'done',
  digest,
  bytes,
});

async function fetched(order: Order, around: Surroundings, volume: Volume, source: string): Promise<Complete> {
  await using open = new AsyncDisposableStack();
  const stop = new AbortController();
  const signal = AbortSignal.any([around.signal, stop.signal]);
  const meter = new Meter(order.pace);
  const told = watch(meter, order, around, (why) => stop.abort(new Refused('SourceTooSlow', why)));
  open.defer(() => told.end());
  const secrets = await readSecrets(order.credentials);
  const dial = dialing(order, around, secrets);
  const client = open.adopt(new Client({ ...dial, stall: order.stall }), (used) => used.close());
  const room = (bytes: number) => roomFor(order.target, bytes);
  const means = {
    ...around,
    ask: client.ask,
    secrets,
    configs: await readConfigs(order.pullSecrets),
    dial,
    open,
    signal,
  };
  try {
    const plan = await lookAt(order, { ...means, plainHttp: order.plainHttp });
    const kit: Kit = {
      ...around,
      ask: client.ask,
      meter,
      signal,
      room,
      hasher: open.use(new Hasher()),
      blocks: new Blocks(2 * order.lanes + 2, blockSize),
      lanes: new Lanes(order.lanes),
      pinned: order.digest !== undefined || plan.items.every(({ sha256 }) => sha256 !== undefined),
    };
    const files = await fetchAll(plan.items, { kit, volume, order, fail: (error) => stop.abort(error) });
    const digest = await verified(plan, files, order, volume);
    const moves = await assemble(files, { ...order, volume, signal, room });
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return await volume.finish({ source, digest, bytes }, moves);
  } catch (error) {
    throw await explained(signal.aborted ? signal.reason : error, order.target, meter.progress.total);
  }
}

/** Once a second: says how far it is, and gives up on a source that is too slow. */
function watch(meter: Meter, order: Order, { clock, progress }: Surroundings, tooSlow: (why: string) => void) {
  const last = clock.monotonic() + order.deadline;
  let said = 0;
  const say = () => {
    const { bytes } = meter.progress;
    if (bytes !== said) progress(meter.progress);
    said = bytes;
  };
  const look = () => {
    say();
    const slow = meter.second();
    if (slow !== undefined) tooSlow(slow);
    if (clock.monotonic() > last) tooSlow(`it is not there after ${Math.round(order.deadline / 60_000)} minutes`);
    cancel = clock.after(1_000, look);
  };
  let cancel = clock.after(1_000, look);
  return {
    end() {
      cancel();
      say();
    },
  };
}

function dialing(order: Order, { apiServer, resolve, clock }: Surroundings, secrets: Secrets): DialOptions {
  const ca = secrets['ca.crt'];
  const rules = egressRules({ apiServer, deny: order.deny, allow: order.allow });
  return { rules, resolve, clock, within: order.connect, ...(ca !== undefined && { secureContext: trusted(ca) }) };
}

function trusted(ca: string): SecureContext {
  try {
    return trusting(ca);
  } catch (error) {
    throw error instanceof NoCertificate
      ? new Refused('SourceTLSError', `${error.message}; check the Secret that credentials names`, error)
      : error;
  }
}

interface Fetching {
  kit: Kit;
  volume: Volume;
  order: Order;
  fail: (error: unknown) => void;
}

/** All files, several at a time. The first that fails ends the others. */
async function fetchAll(items: readonly Item[], { kit, volume, order, fail }: Fetching): Promise<Fetched[]> {
  const parts = new Map(items.map((item) => [item, partName(item)]));
  const there = await volume.keepParts(new Set(parts.values()));
  for (const { path, size } of items) kit.meter.announce(path, size);
  await kit.room(items.reduce((sum, { size = 0 }) => sum + size, 0) - there);
  const files = new Lanes(order.lanes);
  const tasks = items.map((item) =>
    files.run(async () => {
      kit.signal.throwIfAborted();
      return decoded(await fetchItem(item, volume.own('parts', parts.get(item) ?? ''), kit), kit.signal);
    }),
  );
  for (const task of tasks) task.catch(fail);
  await Promise.allSettled(tasks);
  return Promise.all(tasks);
}

/** The name of a file that is being fetched; it says nothing of where it comes from. */
const partName = ({ path, url }: Item): string =>
  createHash('sha256').update(`${path}\n${url.href}`).digest('hex').slice(0, 32);

/** The digest of everything, which must be the one that was asked for. */
async function verified(
  plan: Plan,
  files: readonly Fetched[],
  { digest: asked }: Order,
  volume: Volume,
): Promise<string> {
  const digest = plan.digest ?? digestOf(files);
  if (asked === undefined || asked === digest) return digest;
  await volume.keepParts(new Set());
  throw new Refused(
    'ChecksumMismatch',
    `the download should be ${asked}, and is ${digest}; mend digest, or the source`,
  );
}
