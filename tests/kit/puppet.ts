// A controller whose decisions are the test's own: one function for each Trio, asked whenever the engine looks. It runs
// in the test's process, behind the rig's proxy and as the operator's account, so that a story can say exactly what is
// wanted while the proxy shows it an old world.

import { join } from 'node:path';
import type { Call } from '../../controlplane/faults/index.ts';
import { makeLog, systemClock } from '../../src/base/index.ts';
import { type Decision, defineController, type Desired, type Pass } from '../../src/kube/define.ts';
import { loadKubeconfig, startOperator } from '../../src/kube/index.ts';
import { ConfigMap, type KubeObject } from '../../src/objects/index.ts';
import { eventually } from './eventually.ts';
import type { Rig } from './rig.ts';
import { Trio, type TrioStatus } from './trio/schema.ts';

/** What is wanted, from what is asked for in `spec.text` and what was seen. */
export type Wants = (pass: Pass<Trio>) => readonly Desired[];

/** One Trio with a namespace of its own. */
export interface Puppet {
  namespace: string;
  /** Asks for something: the text that `wants` decides by. */
  ask(text: string): Promise<Trio>;
  /** Asks, and waits until a pass for it is told. */
  get(text: string): Promise<Trio>;
  /** The Trio as it is now. */
  now(): Promise<Trio>;
  /** A ConfigMap of the namespace as it is now. */
  config(name: string): Promise<ConfigMap | undefined>;
  /** Writes of the operator in the namespace since the last call of this, in words: `create configmaps c 201`. */
  writes(): string[];
}

export interface Puppets {
  puppet(wants: Wants, cleanup?: () => Promise<'done' | { again: number }>): Promise<Puppet>;
  log(): string;
  stop(): Promise<void>;
}

export const finalizer = 'test.baton.dev/puppet';
export const name = 'puppet';

/** A child. */
export const config = (child: string, text = ''): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: child },
  data: { text },
});

interface Strings {
  wants: Wants;
  cleanup: () => Promise<'done' | { again: number }>;
}

/** Starts the operator; puppets are made one by one. */
export async function startPuppets(rig: Rig): Promise<Puppets> {
  const strings = new Map<string, Strings>();
  const ofObject = ({ metadata }: KubeObject): Strings | undefined => strings.get(metadata.namespace ?? '');
  const definition = defineController<Trio, TrioStatus>({
    kind: Trio,
    owns: [ConfigMap],
    reads: [ConfigMap],
    decide: (pass) => decision(pass, ofObject(pass.object)?.wants(pass) ?? []),
    cleanup: { finalizer, run: async (object) => (await ofObject(object)?.cleanup()) ?? 'done' },
  });
  const lines: string[] = [];
  const operator = await startOperator({
    controllers: [{ definition }],
    access: () => loadKubeconfig(join(rig.plane.folder, 'operator.kubeconfig')),
    namespaces: [],
    workers: 4,
    clock: systemClock,
    random: Math.random,
    log: makeLog({ level: 'info', format: 'text', now: () => Date.now(), write: (line) => void lines.push(line) }),
  });
  return {
    async puppet(wants, cleanup = async () => 'done') {
      const namespace = await rig.namespace();
      strings.set(namespace, { wants, cleanup });
      return puppetIn(rig, namespace);
    },
    log: () => lines.join(''),
    stop: () => operator.stop(),
  };
}

/** The status says what was asked for, so that a test can wait for it, and how much is wanted, so that it changes with that. */
function decision({ object }: Pass<Trio>, want: readonly Desired[]): Decision<TrioStatus> {
  const { generation = 0 } = object.metadata;
  return {
    want: [...want],
    status: { observedGeneration: generation, phase: `Wants ${want.length}`, message: object.spec.text },
  };
}

function puppetIn(rig: Rig, namespace: string): Puppet {
  const beginning = rig.proxy.trace.mark();
  const told = new Set<Call>();
  const now = () => rig.admin.get(Trio, { namespace, name });
  const ask = (text: string) => rig.apply(Trio, { metadata: { namespace, name }, spec: { text } });
  return {
    namespace,
    ask,
    now,
    async get(text) {
      await ask(text);
      return eventually(async () => tells(await now(), text), { what: `${text} is told` });
    },
    config: (child) => rig.get(ConfigMap, namespace, child),
    writes() {
      const writes = rig.proxy.trace
        .since(beginning)
        .calls.filter((call) => call.namespace === namespace && isWrite(call.verb))
        .filter((call) => hasEnded(call) && !told.has(call));
      for (const write of writes) told.add(write);
      return writes.map(words);
    },
  };
}

const tells = (trio: Trio, text: string): Trio | undefined => (trio.status?.message === text ? trio : undefined);
/** One that is on its way is told when it is known how it ended. */
const hasEnded = ({ answer, failure }: Call): boolean => answer !== undefined || failure !== undefined;
const isWrite = (verb: string): boolean => !['get', 'list', 'watch'].includes(verb);

const words = (call: {
  verb: string;
  resource: string;
  subresource: string;
  name: string;
  answer: { status: number } | undefined;
}) =>
  [call.verb, call.subresource || call.resource, call.name, call.answer?.status ?? 'lost']
    .filter((part) => part !== '')
    .join(' ');
