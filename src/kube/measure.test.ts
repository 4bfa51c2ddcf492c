import { deepEqual, match } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { silent } from '../base/index.ts';
import { EngineMetrics, type Measured } from './measure.ts';
import { Problems } from './problems.ts';

/** The samples of one metric, without their words for people. */
const samples = (metrics: EngineMetrics, name: string): string[] =>
  metrics
    .text()
    .split('\n')
    .filter((line) => line.startsWith(name));

const engine = () => new EngineMetrics(new Problems(silent));

describe('what is counted', () => {
  test('requests, by verb, resource and status', () => {
    const metrics = engine();
    for (const status of [200, 200, 409])
      metrics.requested({ verb: 'apply', resource: 'deployments.apps', status, ms: 1 });
    deepEqual(samples(metrics, 'baton_api_requests_total'), [
      'baton_api_requests_total{resource="deployments.apps",status="200",verb="apply"} 2',
      'baton_api_requests_total{resource="deployments.apps",status="409",verb="apply"} 1',
    ]);
  });

  test('passes, by controller and how they ended, with their time in seconds', () => {
    const metrics = engine();
    const passed = metrics.passed('Shop');
    passed('done', 20);
    passed('stale', 2);
    passed('failed', 2_000);
    deepEqual(samples(metrics, 'baton_passes_total').toSorted(), [
      'baton_passes_total{controller="Shop",result="done"} 1',
      'baton_passes_total{controller="Shop",result="failed"} 1',
      'baton_passes_total{controller="Shop",result="stale"} 1',
    ]);
    const text = metrics.text();
    match(text, /baton_pass_seconds_bucket\{controller="Shop",le="0.05"\} 2/);
    match(text, /baton_pass_seconds_bucket\{controller="Shop",le="5"\} 3/);
    match(text, /baton_pass_seconds_sum\{controller="Shop"\} 2.022/);
  });
});

describe('what is looked at when somebody asks', () => {
  test('problems, each as one, while they last', () => {
    const problems = new Problems(silent);
    const metrics = new EngineMetrics(problems);
    problems.set('weather', 'no road');
    deepEqual(samples(metrics, 'baton_problem'), ['baton_problem{problem="weather"} 1']);
    problems.set('weather', undefined);
    deepEqual(samples(metrics, 'baton_problem'), []);
  });

  test('queues, holds, watches and leadership, in seconds and as they are now', () => {
    const metrics = engine();
    const holds = new Map([
      ['sync', 'waits'],
      ['leadership', 'waits'],
    ]);
    const queue = { stats: () => ({ ready: 3, delayed: 5 }), oldestWaiting: () => 1_500 };
    let leads = false;
    const parts = {
      controllers: [{ name: 'Shop', queue, holds, parents: [] }],
      watched: [{ name: 'watch Pod', age: 2_500 }],
    };
    metrics.watch({ ...(parts as unknown as Omit<Measured, 'leads'>), leads: () => leads });
    const now = () =>
      [
        'queue_ready',
        'queue_delayed',
        'queue_oldest_seconds',
        'controller_held',
        'watch_age_seconds',
        'leader',
      ].flatMap((name) => samples(metrics, `baton_${name}`));
    deepEqual(now(), [
      'baton_queue_ready{controller="Shop"} 3',
      'baton_queue_delayed{controller="Shop"} 5',
      'baton_queue_oldest_seconds{controller="Shop"} 1.5',
      'baton_controller_held{controller="Shop"} 1',
      'baton_watch_age_seconds{watch="watch Pod"} 2.5',
      'baton_leader 0',
    ]);
    leads = true;
    holds.clear();
    deepEqual(now().slice(3), [
      'baton_controller_held{controller="Shop"} 0',
      'baton_watch_age_seconds{watch="watch Pod"} 2.5',
      'baton_leader 1',
    ]);
  });
});
