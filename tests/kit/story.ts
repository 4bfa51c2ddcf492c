// One life of a Trio on a lane of its own: a namespace, a proxy before the API server, and an operator that is started
// again whenever it dies, as a kubelet would. Several lanes share a control plane and do not see each other.

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Call, type FaultProxy, type OperatorProcess, startFaultProxy } from '../../controlplane/faults/index.ts';
import { births, lies, saysReady, stateOf, type Truth, watchTruth } from './oracle.ts';
import { eventually } from './eventually.ts';
import type { MainOptions } from './main.ts';
import { type RunningOperator, startProcess } from './process.ts';
import { account, home, type Rig } from './rig.ts';
import { Trio } from './trio/schema.ts';

/** An operator that comes back when it is killed. */
export interface Supervised extends OperatorProcess {
  /** The process that runs now, once it runs. */
  current(): Promise<RunningOperator>;
  restarts(): number;
  stop(): Promise<void>;
}

export interface Lane {
  rig: Rig;
  namespace: string;
  proxy: FaultProxy;
  truth: Truth;
  operator: Supervised;
  /** The operator's world outside the cluster. */
  outside: string;
  close(): Promise<void>;
}

/** Opens a lane. No plan is in force yet. */
async function openLane(rig: Rig, options: Partial<MainOptions> = {}): Promise<Lane> {
  const { plane } = rig;
  const namespace = await rig.namespace();
  const truth = await watchTruth(rig.admin, namespace);
  const proxy = await startFaultProxy({ upstream: { url: plane.url, caPem: plane.caPem } });
  const kubeconfig = join(plane.folder, `${namespace}.kubeconfig`);
  writeFileSync(kubeconfig, proxy.kubeconfig(await plane.token(home, account)));
  const outside = mkdtempSync(join(plane.folder, 'outside-'));
  const own: Omit<MainOptions, 'identity'> = { kubeconfig, outside, controller: 'cleaning', namespaces: [namespace] };
  const operator = supervise(() => startProcess(plane.folder, { ...own, ...options }));
  return {
    rig,
    namespace,
    proxy,
    truth,
    operator,
    outside,
    async close() {
      truth.stop();
      await operator.stop();
      await proxy.stop();
    },
  };
}

/** Runs a story on a lane of its own. One that fails tells what the operator wrote and logged. */
export async function onLane<T>(rig: Rig, options: Partial<MainOptions>, run: (lane: Lane) => Promise<T>): Promise<T> {
  const lane = await openLane(rig, options);
  try {
    return await run(lane);
  } catch (error) {
    const wrote = lane.proxy.trace.writes().slice(-40).map(wordsOf);
    const log = (await lane.operator.current()).log().split('\n').slice(-20);
    throw new Error(['writes:', ...wrote, 'log:', ...log].join('\n'), { cause: error });
  } finally {
    await lane.close();
  }
}

export function supervise(start: () => Promise<RunningOperator>): Supervised {
  let running = start();
  let restarts = 0;
  return {
    current: () => running,
    restarts: () => restarts,
    async kill() {
      await (await running).kill();
      restarts++;
      running = start();
    },
    pause: async () => (await running).pause(),
    resume: async () => (await running).resume(),
    stop: async () => (await running).kill(),
  };
}

/** What came of a life, as far as it can be compared with another one. */
export interface Outcome {
  state: Record<string, unknown>;
  births: ReturnType<typeof births>;
  lies: string[];
  /** What was undone outside the cluster; more than once is no harm, never is. */
  forgotten: string[];
  /** Writes of the operator that the API server took. */
  writes: Call[];
  /** Writes after everything had come to rest, and after the Trio was gone. */
  late: string[];
}

const name = 'life';
const first = {
  text: 'hello',
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
  external: 'thing',
};
/** An item is removed, a text is changed, the size is changed. */
const second = { ...first, text: 'changed', env: [{ name: 'B', value: '2' }], replicas: 2 };

/** Creates a Trio, edits it, deletes it; looks at it when it has come to rest, and again when it is gone. */
export async function live(lane: Lane): Promise<Outcome> {
  const { rig, namespace, proxy, truth } = lane;
  await rig.apply(Trio, { metadata: { namespace, name }, spec: first });
  await becomesReady(lane, name);
  await rig.apply(Trio, { metadata: { namespace, name }, spec: second });
  await becomesReady(lane, name);
  await atRest(lane);
  const state = stateOf(truth.objects());
  const lived = births(truth.history());
  const late = await writesDuring(lane, 1_000);
  await rig.admin.delete(Trio, { namespace, name });
  // Its children are the garbage collector's, which may take half a minute to learn of a new kind.
  await eventually(() => truth.get(Trio, name) === undefined, { what: 'the Trio goes' });
  const left = proxy.trace.mark();
  await atRest(lane);
  late.push(...writesSince(lane, left));
  const writes = proxy.trace.writes().filter(({ answer }) => answer !== undefined && answer.status < 300);
  return { state, births: lived, lies: lies(truth.history()), forgotten: forgotten(lane), writes, late };
}

/** Waits until a Trio is Ready for the generation that it has now. */
export async function becomesReady({ rig, namespace, truth }: Lane, trio: string, within = 60_000): Promise<Trio> {
  const { metadata } = await rig.admin.get(Trio, { namespace, name: trio });
  const latest = () => truth.get(Trio, trio);
  return eventually(
    () => {
      const now = latest();
      if (now && (now.metadata.generation ?? 0) >= (metadata.generation ?? 0) && saysReady(now)) return now;
      throw new Error(`${trio} is ${JSON.stringify(now?.status)}`);
    },
    { within, every: 20, what: `${trio} becomes Ready` },
  );
}

function forgotten({ outside }: Lane): string[] {
  const file = join(outside, 'forgotten');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return [...new Set(lines.filter((line) => line !== ''))];
}

/** Waits until neither a write nor an event has been seen for a while. */
export async function atRest({ proxy, operator }: Lane, quiet = 800): Promise<void> {
  await operator.current();
  const lastAt = () => {
    const { calls, events } = proxy.trace;
    const writes = proxy.trace.writes().filter(({ resource }) => resource !== 'leases');
    const news = events.filter(({ type }) => type !== 'BOOKMARK');
    return Math.max(calls[0]?.at ?? 0, writes.at(-1)?.at ?? 0, news.at(-1)?.at ?? 0);
  };
  await eventually(() => performance.now() - lastAt() > quiet, { within: 30_000, what: 'everything comes to rest' });
}

/** The writes of the operator in a span of time, in words. */
export async function writesDuring(lane: Lane, ms: number): Promise<string[]> {
  const mark = lane.proxy.trace.mark();
  await new Promise((resolve) => setTimeout(resolve, ms));
  return writesSince(lane, mark);
}

const writesSince = ({ proxy }: Lane, mark: number): string[] =>
  proxy.trace
    .writes()
    .filter(({ seq }) => seq > mark)
    .map(wordsOf);

/** A request as a person would tell it. */
export const wordsOf = ({ verb, resource, subresource, name: object, answer }: Call): string =>
  `${verb} ${subresource ? `${resource}/${subresource}` : resource} ${object} -> ${answer?.status ?? 'no answer'} ${answer?.reason ?? ''}`.trim();
