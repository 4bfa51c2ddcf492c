// What the engine tells Prometheus: passes, queues, how old the watches are, requests, leadership, problems.

import { Metrics } from '../base/index.ts';
import type { Requested } from './client/index.ts';
import type { Controller } from './controller.ts';
import type { Problems } from './problems.ts';
import { phasesIn } from './readiness.ts';
import type { Watched } from './watched.ts';

/** Seconds. */
const passBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];
const readyBuckets = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];

export interface Measured {
  controllers: readonly Controller[];
  watched: readonly Watched[];
  leads: () => boolean;
}

export class EngineMetrics {
  readonly registry = new Metrics();
  private readonly passes = this.registry.counter('baton_passes_total', 'Passes, by how they ended.');
  private readonly passTime = this.registry.histogram('baton_pass_seconds', 'How long passes took.', passBuckets);
  private readonly requests = this.registry.counter('baton_api_requests_total', 'Requests to the API server.');

  private readonly readyTime = this.registry.histogram(
    'baton_time_to_ready_seconds',
    'From the creation or an edit of an object to Ready for just that.',
    readyBuckets,
  );

  constructor(problems: Problems) {
    this.registry.gauge('baton_problem', 'Problems that need attention, each as 1.', () =>
      problems.list().map(({ name }) => [{ problem: name }, 1] as const),
    );
  }

  /** One request to the API server ended. */
  readonly requested = ({ verb, resource, status }: Requested): void =>
    this.requests.add({ verb, resource, status: String(status) });

  /** One pass of a controller ended. */
  passed(controller: string): (result: 'done' | 'stale' | 'failed', ms: number) => void {
    return (result, ms) => {
      this.passes.add({ controller, result });
      this.passTime.observe({ controller }, ms / 1_000);
    };
  }

  /** One object got Ready. */
  readonly took = (kind: string, ms: number): void => this.readyTime.observe({ kind }, ms / 1_000);

  /** Reads these parts whenever somebody looks. */
  watch({ controllers, watched, leads }: Measured): void {
    const each = (value: (controller: Controller) => number) => () =>
      controllers.map((one) => [{ controller: one.name }, value(one)] as const);
    this.registry.gauge(
      'baton_queue_ready',
      'Keys that wait for a worker.',
      each(({ queue }) => queue.stats().ready),
    );
    this.registry.gauge(
      'baton_queue_delayed',
      'Keys that wait for their time.',
      each(({ queue }) => queue.stats().delayed),
    );
    this.registry.gauge(
      'baton_queue_oldest_seconds',
      'How long the oldest ready key has waited.',
      each(({ queue }) => queue.oldestWaiting() / 1_000),
    );
    this.registry.gauge(
      'baton_controller_held',
      'Whether a controller waits for something (1) or works (0).',
      each(({ holds }) => Math.min(1, holds.size)),
    );
    this.registry.gauge('baton_watch_age_seconds', 'Seconds since the last byte of a watch.', () =>
      watched.filter((one) => !one.absent).map((one) => [{ watch: one.name }, one.age / 1_000] as const),
    );
    this.registry.gauge('baton_objects', 'Objects that are looked after, by phase.', () =>
      controllers.flatMap((one) =>
        Array.from(phasesIn(one.parents), ([phase, count]) => [{ kind: one.name, phase }, count] as const),
      ),
    );
    this.registry.gauge('baton_leader', 'Whether this process leads (1) or stands by (0).', () => [
      [{}, leads() ? 1 : 0],
    ]);
  }

  text(): string {
    return this.registry.text();
  }
}
