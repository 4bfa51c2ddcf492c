// Puts the parts together and keeps them alive: credentials, watches, controllers, election, probes. Whatever is missing
// at the start, from the kubeconfig to a CRD, is named, waited for, and noticed when it comes; the rest goes on.

import { type Clock, type Log, sleep, wordsOf } from '../base/index.ts';
import type { Store } from './cache.ts';
import { Circuit } from './circuit.ts';
import { Client, type ClusterAccess, readerOf } from './client/index.ts';
import { Controller } from './controller.ts';
import type { ControllerDefinition } from './define.ts';
import { Gatherer } from './gather.ts';
import { type Check, type Health, startHealth } from './health.ts';
import { Election } from './lease.ts';
import { EngineMetrics } from './measure.ts';
import { missingPermissions } from './permissions.ts';
import { Problems } from './problems.ts';
import { needsOf, needsWithin } from './rbac.ts';
import { Readiness } from './readiness.ts';
import { Subscriptions } from './routes.ts';
import { defaultLimits, type Limits, type Source, watch } from './watch.ts';
import { Watched } from './watched.ts';
import { World } from './world.ts';

export interface OperatorOptions {
  /** Definitions, each with the clients that its facts and cleanup need. */
  controllers: readonly { definition: ControllerDefinition; clients?: object }[];
  /** Where the cluster is; called again until it succeeds. */
  access: () => ClusterAccess;
  /** Namespaces to work in; empty means all. */
  namespaces: readonly string[];
  parentSelector?: string;
  /** Passes at once, for each controller. */
  workers: number;
  /** Who we are among several operators; without it there is no election. */
  lease?: { namespace: string; name: string; identity: string };
  health?: { host: string; port: number };
  clock: Clock;
  random: () => number;
  log: Log;
  limits?: Limits;
}

/** A running operator. */
export interface Operator {
  /** The port of the probes, if they are served. */
  readonly port: number | undefined;
  /** Ends passes, gives the lease back, closes connections. */
  stop(): Promise<void>;
}

const retryAccess = 2_000;
/** A pass that hangs at the end is given up: whatever it wrote, the next leader sees. */
const longestDrain = 10_000;
const retryPermissions = 3_000;
/** Facts come from registries and kubelets: few at once, and patiently. */
const gathering = { parallel: 16, backoff: { first: 1_000, most: 60_000 } };

/** Starts at once; what cannot start yet is retried in the background and named in logs and probes. */
export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const running = new Running(options);
  await running.begin();
  return running;
}

class Running implements Operator {
  private readonly options: OperatorOptions;
  private readonly aborted = new AbortController();
  private readonly problems: Problems;
  private readonly metrics: EngineMetrics;
  private readonly loops: Promise<void>[] = [];
  private health: Health | undefined;
  private parts: Parts | undefined;

  constructor(options: OperatorOptions) {
    this.options = options;
    this.problems = new Problems(options.log);
    this.metrics = new EngineMetrics(this.problems);
  }

  get port(): number | undefined {
    return this.health?.port;
  }

  async begin(): Promise<void> {
    const { health } = this.options;
    if (health)
      this.health = await startHealth({ ...health, checks: () => this.checks(), metrics: () => this.metrics.text() });
    this.loops.push(this.connect());
  }

  async stop(): Promise<void> {
    this.aborted.abort();
    await this.parts?.stop();
    await Promise.all(this.loops);
    await this.health?.close();
  }

  /** Reads the credentials until they can be read, then starts everything that talks to the cluster. */
  private async connect(): Promise<void> {
    const { access, clock } = this.options;
    while (!this.aborted.signal.aborted) {
      try {
        const cluster = access();
        this.problems.set('credentials', undefined);
        this.parts = new Parts({
          ...this.options,
          cluster,
          problems: this.problems,
          metrics: this.metrics,
          signal: this.aborted.signal,
        });
        return this.parts.start();
      } catch (error) {
        this.problems.set('credentials', `${wordsOf(error)}; it is read again all the time`);
        await sleep(clock, retryAccess, this.aborted.signal);
      }
    }
  }

  private checks() {
    const problems = this.problems.list().map(({ name, words }) => ({ name, ok: false, reason: words }));
    const parts = this.parts?.checks() ?? [{ name: 'connection', ok: false, reason: 'not connected yet' }];
    return { live: [{ name: 'process', ok: true }], ready: [...problems, ...parts] };
  }
}

interface PartsOptions extends OperatorOptions {
  cluster: ClusterAccess;
  problems: Problems;
  metrics: EngineMetrics;
  signal: AbortSignal;
}

/** Everything that needs a cluster. */
class Parts {
  private readonly options: PartsOptions;
  private readonly world: World;
  /** Writes of this client are fenced by leadership; the other one renews the lease and asks about permissions. */
  private readonly client: Client;
  private readonly plain: Client;
  private readonly election: Election | undefined;
  private readonly controllers: Controller[];
  private readonly watched: Watched[];
  private readonly loops: Promise<void>[] = [];
  private readonly gatherers: Gatherer[] = [];
  private readonly checking = new Set<Controller>();

  constructor(options: PartsOptions) {
    this.options = options;
    const { cluster, clock, lease, metrics } = options;
    const onRequest = metrics.requested;
    this.plain = new Client({ cluster, clock, onRequest });
    this.election = lease && this.elect(lease);
    this.client = new Client({ cluster, clock, onRequest, ...(this.election && { fence: this.election.fence }) });
    this.world = this.makeWorld();
    this.controllers = options.controllers.map(({ definition, clients = {} }) => this.controller(definition, clients));
    this.watched = this.world.sources().map(({ store, source }) => this.watching(store, source));
    metrics.watch({ controllers: this.controllers, watched: this.watched, leads: () => this.leads() });
  }

  start(): void {
    const { signal, clock, random, limits = defaultLimits } = this.options;
    for (const watched of this.watched) {
      const { source, feed } = watched;
      this.loops.push(watch({ client: this.client, source, feed, report: watched, clock, random, limits, signal }));
    }
    for (const controller of this.controllers) this.checkPermissions(controller);
    if (this.election) this.election.start();
    else for (const controller of this.controllers) controller.hold('leadership', undefined);
  }

  async stop(): Promise<void> {
    const drained = Promise.all(this.controllers.map((controller) => controller.queue.drain()));
    await Promise.race([drained, sleep(this.options.clock, longestDrain)]);
    for (const gatherer of this.gatherers) gatherer.close();
    await this.election?.stop();
    await Promise.all(this.loops);
    await Promise.all([this.client.close(), this.plain.close()]);
  }

  checks(): Check[] {
    const held = this.controllers.map((controller) => {
      const reasons = [...controller.holds].filter(([name]) => name !== 'leadership').map(([, words]) => words);
      return {
        name: `controller ${controller.name}`,
        ok: reasons.length === 0,
        ...(reasons.length > 0 && { reason: reasons.join('; ') }),
      };
    });
    return [...this.watched.map((watched) => watched.check()), ...held, ...this.electionCheck()];
  }

  private electionCheck(): Check[] {
    if (!this.election) return [];
    const { problem, standing } = this.election;
    if (problem === undefined) return [{ name: 'election', ok: true, reason: standing }];
    return [{ name: 'election', ok: false, reason: wordsOf(problem) }];
  }

  private leads(): boolean {
    return this.election ? this.election.mayWrite() : true;
  }

  private elect(lease: NonNullable<OperatorOptions['lease']>): Election {
    const { clock, log } = this.options;
    const hold = (words: string | undefined) => {
      for (const controller of this.controllers) controller.hold('leadership', words);
    };
    const callbacks = { onStart: () => hold(undefined), onStop: (why: string) => hold(why) };
    return new Election({ ...lease, ...callbacks, client: this.plain, clock, log });
  }

  private makeWorld(): World {
    const { namespaces, parentSelector, clock, log, metrics } = this.options;
    // Several operators may watch, but only the one that writes counts, or each object would be counted twice.
    const readiness = new Readiness({ clock, took: (kind, ms) => this.leads() && metrics.took(kind, ms) });
    return new World({
      definitions: this.options.controllers.map(({ definition }) => definition),
      namespaces,
      ...(parentSelector !== undefined && { parentSelector }),
      clock,
      onChange: (change) => {
        for (const controller of this.controllers) controller.changed(change);
        if (this.controllers.some(({ parents }) => parents.includes(change.store))) readiness.changed(change);
      },
      onListenerError: (error) => log.error('a change could not be passed on', { error }),
    });
  }

  private controller(definition: ControllerDefinition, clients: object): Controller {
    const { clock, random, workers, signal, metrics } = this.options;
    const log = this.options.log.with({ controller: definition.kind.kind });
    const reader = readerOf(this.client);
    const wake = (key: string) => controller.woken(key);
    const gatherer = new Gatherer({
      facts: definition.gather ?? {},
      tools: { kube: reader, clients },
      clock,
      random,
      wake,
      ...gathering,
    });
    this.gatherers.push(gatherer);
    const known = { parents: this.world.parentsOf(definition), stores: this.world.storesOf(definition) };
    const memory = { subscriptions: new Subscriptions(), circuit: new Circuit({ clock }), gatherer };
    const bench = { definition, client: this.client, reader, clients, ...known, ...memory, clock, log, signal };
    const passed = metrics.passed(definition.kind.kind);
    const controller: Controller = new Controller({
      bench,
      workers,
      clock,
      random,
      log,
      passed,
      forbidden: () => this.checkPermissions(controller),
    });
    for (const reason of ['sync', 'permissions', 'leadership']) controller.hold(reason, `waits for ${reason}`);
    return controller;
  }

  /** A watch whose trouble holds only those controllers that use its store. */
  private watching(store: Store, source: Source): Watched {
    const { clock, problems, log, limits = defaultLimits } = this.options;
    const users = this.controllers.filter((controller) => controller.needs(store));
    const hold = (words: string | undefined) => {
      for (const controller of users) {
        controller.hold(`${source.kind.kind} ${source.namespace ?? ''}`, words);
        if (controller.synced) controller.hold('sync', undefined);
      }
    };
    const mayLack = users.length > 0 && users.every((controller) => controller.canLack(source.kind));
    const turned = () => {
      const { kind, apiVersion } = source.kind;
      log.info(store.served ? 'a kind is served' : 'a kind is not served, and not needed', { kind, apiVersion });
      for (const controller of users) controller.lookAtAll();
    };
    const awaited = () => users.some(({ parents }) => parents.some(({ size }) => size > 0));
    const told = { hold, turned, awaited };
    return new Watched({ store, source, clock, limits, problems, needed: users.length > 0, mayLack, ...told });
  }

  /** A controller works only with all its rights: a missing one would be met in the middle of somebody's rollout. */
  private checkPermissions(controller: Controller): void {
    if (this.checking.has(controller)) return;
    this.checking.add(controller);
    this.loops.push(this.untilPermitted(controller).finally(() => this.checking.delete(controller)));
  }

  private async untilPermitted(controller: Controller): Promise<void> {
    const { clock, signal, problems, namespaces } = this.options;
    const name = `permissions of ${controller.name}`;
    const places = namespaces.length > 0 ? namespaces : [undefined];
    const needs = namespaces.length > 0 ? needsWithin(controller.definition) : needsOf(controller.definition);
    while (!signal.aborted) {
      const missing = await missingPermissions(this.plain, needs, places).catch(() => undefined);
      if (missing?.length === 0) {
        problems.set(name, undefined);
        return controller.hold('permissions', undefined);
      }
      if (missing) {
        const words = `the operator may not ${missing.join(', ')}: apply the generated roles (deploy/rbac) and bind them to its account`;
        problems.set(name, words);
        controller.hold('permissions', words);
      }
      await sleep(clock, retryPermissions, signal);
    }
  }
}
