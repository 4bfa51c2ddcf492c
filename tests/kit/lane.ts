// A lane: a namespace, a proxy before the API server, and an operator that is started again whenever it dies, as a kubelet
// would. Several lanes share a control plane and do not see each other.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Call, type FaultProxy, type OperatorProcess, startFaultProxy } from '../../controlplane/faults/index.ts';
import type { Parent } from '../../src/kube/define.ts';
import { eventually } from './eventually.ts';
import type { MainOptions } from './main.ts';
import { saysReady, toldOf } from './oracle.ts';
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
  const { home, account, controller, options: always } = subject.installed;
  const namespace = await rig.namespace();
  const truth = await watchTruth(rig.admin, namespace, { told: toldOf(subject), gaps });
  const proxy = await startFaultProxy({ upstream: { url: plane.url, caPem: plane.caPem } });
  const kubeconfig = join(plane.folder, `${namespace}.kubeconfig`);
  writeFileSync(kubeconfig, proxy.kubeconfig(await plane.token(home, account)));
  const outside = mkdtempSync(join(plane.folder, 'outside-'));
  const own: Omit<MainOptions, 'identity'> = { kubeconfig, outside, controller, namespaces: [namespace] };
  const operator = supervise(() => startProcess(plane.folder, { ...own, ...always, ...asked }));
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
      proxy.clearPlan();
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
  let isOver = false;
  return {
    current: () => running,
    restarts: () => restarts,
    async kill() {
      const dying = running;
      await (await dying).kill();
      if (isOver || running !== dying) return; // nobody wants another one, or it is there already
      restarts++;
      running = start();
      running.catch(() => {}); // whoever asks for it is told
    },
    pause: async () => (await running).pause(),
    resume: async () => (await running).resume(),
    async stop() {
      isOver = true;
      await running.then(
        (operator) => operator.kill(),
        () => {}, // what did not start is not there
      );
    },
  };
}

/** The name of whoever lives. */
export const name = 'life';

/** Creates the object or edits it, as a user with kubectl would. */
export const ask = <P extends Parent>({ rig, namespace, subject }: Lane<P>, spec: object, own = name): Promise<P> =>
  rig.apply(subject.kind, { metadata: { namespace, name: own }, spec });

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
