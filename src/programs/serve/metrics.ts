// What the server tells Prometheus. Labels that are used for every request are made once.

import { type Labels, Metrics } from '../../base/index.ts';

/** Seconds; rows. */
const latencies = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const amounts = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** What is looked up when somebody asks. */
export interface Looked {
  queue: () => number;
  connections: () => number;
  draining: () => boolean;
}

export class ServeMetrics {
  readonly #registry = new Metrics();
  readonly #requests = this.#registry.counter('baton_serve_requests_total', 'Requests that were answered.');
  readonly #time = this.#registry.histogram(
    'baton_serve_request_seconds',
    'From the last byte of an inference request to its answer.',
    latencies,
  );
  readonly #run = this.#registry.histogram('baton_serve_run_seconds', 'How long runs of the model took.', latencies);
  readonly #rows = this.#registry.histogram('baton_serve_run_rows', 'Rows in a run.', amounts);
  readonly #together = this.#registry.histogram('baton_serve_run_requests', 'Requests in a run.', amounts);
  readonly #load = this.#registry.gauge(
    'baton_serve_model_load_seconds',
    'How long finding and loading the model took.',
  );
  readonly #labels = new Map<string, Labels>();
  #inFlight = 0;

  /** Reads these whenever somebody looks. */
  watch({ queue, connections, draining }: Looked): void {
    const gauge = (name: string, help: string, value: () => number) =>
      this.#registry.gauge(name, help, () => [[{}, value()]]);
    gauge('baton_serve_in_flight', 'Inference requests that are not answered yet.', () => this.#inFlight);
    gauge('baton_serve_queue_length', 'Inference requests that wait for the model.', queue);
    gauge('baton_serve_connections', 'Open connections.', connections);
    gauge('baton_serve_draining', 'Whether the server is about to end (1).', () => (draining() ? 1 : 0));
  }

  loaded(ms: number): void {
    this.#load.set({}, ms / 1_000);
  }

  began(): void {
    this.#inFlight += 1;
  }

  /** An inference request was answered. */
  inferred(status: number, ms: number): void {
    this.#inFlight -= 1;
    this.answered('infer', status);
    this.#time.observe(none, ms / 1_000);
  }

  answered(endpoint: string, status: number): void {
    this.#requests.add(this.#labelled(endpoint, status));
  }

  readonly ran = ({ requests, rows, ms }: { requests: number; rows: number; ms: number }): void => {
    this.#run.observe(none, ms / 1_000);
    this.#rows.observe(none, rows);
    this.#together.observe(none, requests);
  };

  text(): string {
    return this.#registry.text();
  }

  #labelled(endpoint: string, status: number): Labels {
    const key = `${status}${endpoint}`;
    const labels = this.#labels.get(key) ?? Object.freeze({ endpoint, code: String(status) });
    this.#labels.set(key, labels);
    return labels;
  }
}

const none: Labels = Object.freeze({});
