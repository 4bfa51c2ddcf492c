// A lane: a namespace, a proxy before the API server, and an operator that is started again whenever it dies, as a kubelet
// would. Several lanes share a control plane and do not see each other. On a lane an object lives the life that the
// description of its kind tells.

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Call, type FaultProxy, type OperatorProcess, startFaultProxy } from '../../controlplane/faults/index.ts';
import type { Parent } from '../../src/kube/define.ts';
import { eventually } from './eventually.ts';
import type { MainOptions } from './main.ts';
import { births, brokenPromises, isTidy, saysReady, stateOf, toldOf } from './oracle.ts';
import { type RunningOperator, startProcess } from './process.ts';
import type { Rig } from './rig.ts';
import type { Subject } from './subject.ts';
import { type Gaps, type Truth, watchTruth } from './truth.ts';

/** An operator that comes back when it is killed. */
export interface Supervised extends OperatorProcess {
  /** The process that runs now, once it runs. */
  current(): Promise<RunningOperator>;
  restarts(): number;
  stop(): Promise<void>;
}

/** Whose life it is, and how the operator is started. */
export interface LaneOptions<P extends Parent> extends Partial<MainOptions> {
  subject: Subject<P>;
  /** Whether the truth may miss something; not unless said. */
  gaps?: Gaps;
}

export interface Lane<P extends Parent = Parent> {
  rig: Rig;
  subject: Subject<P>;
  namespace: string;
  proxy: FaultProxy;
  truth: Truth;
  operator: Supervised;
  /** The operator's world outside the cluster. */
  outside: string;
  close(): Promise<void>;
}

/** Opens a lane. No plan is in force yet. */
export async function openLane<P extends Parent>(rig: Rig, options: LaneOptions<P>): Promise<Lane<P>> {
  const { plane } = rig;
  const { subject, gaps = 'refused', ...asked } = options;
  const { home, account, controller } = subject.installed;
  const namespace = await rig.namespace();
  const truth = await watchTruth(rig.admin, namespace, { told: toldOf(subject), gaps });
  const proxy = await startFaultProxy({ upstream: { url: plane.url, caPem: plane.caPem } });
  const kubeconfig = join(plane.folder, `${namespace}.kubeconfig`);
  writeFileSync(kubeconfig, proxy.kubeconfig(await plane.token(home, account)));
  const outside = mkdtempSync(join(plane.folder, 'outside-'));
  const own: Omit<MainOptions, 'identity'> = { kubeconfig, outside, controller, namespaces: [namespace] };
  const operator = supervise(() => startProcess(plane.folder, { ...own, ...asked }));
  return {
    rig,
    subject,
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
export async function onLane<T, P extends Parent>(
  rig: Rig,
  options: LaneOptions<P>,
  run: (lane: Lane<P>) => Promise<T>,
): Promise<T> {
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

function supervise(start: () => Promise<RunningOperator>): Supervised {
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
  /** Promises that were not kept on the way. */
  broken: string[];
  /** What was undone outside the cluster; more than once is no harm, never is. */
  undone: string[];
  /** Writes of the operator that the API server took. */
  writes: Call[];
  /** Writes after everything had come to rest, and after the object was gone. */
  late: string[];
}

/** What befalls an edit: it must let the edit happen, and may do something before and after it. */
export type Around = (edit: () => Promise<void>, step: number) => Promise<void>;

/** The name of whoever lives. */
export const name = 'life';

/** Lives from the first spec to the last and is deleted; looked at when it has come to rest, and again when it is gone. */
export async function live(lane: Lane, around: Around = (edit) => edit()): Promise<Outcome> {
  const { rig, namespace, proxy, truth, subject } = lane;
  for (const [step, spec] of subject.life.entries()) {
    await around(async () => void (await ask(lane, spec)), step);
    await settles(lane);
  }
  await atRest(lane);
  const state = stateOf(truth.objects(), subject);
  const lived = births(truth.history());
  const late = await writesDuring(lane, 1_000);
  await rig.admin.delete(subject.kind, { namespace, name });
  // Its children are the garbage collector's, which may take half a minute to learn of a new kind.
  await eventually(() => truth.get(subject.kind, name) === undefined, { what: 'it goes' });
  const left = proxy.trace.mark();
  await atRest(lane);
  late.push(...writesSince(lane, left));
  const broken = brokenPromises(truth.history(), proxy.trace.writes(), subject);
  const writes = proxy.trace.writes().filter(({ answer }) => answer !== undefined && answer.status < 300);
  return { state, births: lived, broken, undone: undone(lane), writes, late };
}

/** Creates the object or edits it, as a user with kubectl would. */
export const ask = <P extends Parent>({ rig, namespace, subject }: Lane<P>, spec: object, own = name): Promise<P> =>
  rig.apply(subject.kind, { metadata: { namespace, name: own }, spec });

/** Waits until it is Ready and nothing is left over from what was asked before. */
export async function settles(lane: Lane): Promise<void> {
  const { truth, subject } = lane;
  await becomesReady(lane, name);
  await eventually(() => subject.isSettled(truth) && isTidy(truth.objects()), {
    within: 60_000,
    every: 20,
    what: 'what was asked before goes',
  });
}

/** Waits until the object is Ready for the generation that it has now. */
export async function becomesReady<P extends Parent>(
  { rig, namespace, truth, subject: { kind } }: Lane<P>,
  object: string,
  within = 60_000,
): Promise<P> {
  const { metadata } = await rig.admin.get(kind, { namespace, name: object });
  return eventually(
    () => {
      const now = truth.get(kind, object);
      if (now && (now.metadata.generation ?? 0) >= (metadata.generation ?? 0) && saysReady(now)) return now;
      throw new Error(`${object} is ${JSON.stringify(now?.status)}`);
    },
    { within, every: 20, what: `${object} becomes Ready` },
  );
}

function undone({ outside }: Lane): string[] {
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

/** The same since a mark in the trace. */
export const writesSince = ({ proxy }: Lane, mark: number): string[] =>
  proxy.trace
    .writes()
    .filter(({ seq }) => seq > mark)
    .map(wordsOf);

/** A request as a person would tell it. */
export const wordsOf = ({ verb, resource, subresource, name: object, answer }: Call): string =>
  `${verb} ${subresource ? `${resource}/${subresource}` : resource} ${object} -> ${answer?.status ?? 'no answer'} ${answer?.reason ?? ''}`.trim();
