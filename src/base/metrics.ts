// Numbers about a running process, in Prometheus' text format 0.0.4. Own and small: a process needs counters, gauges
// and histograms with a few labels, and a wrong name or label should fail where it is written, not where it is scraped.

/** What tells the series of one metric apart. */
export type Labels = Readonly<Record<string, string>>;

/** Finds the values of a gauge at the moment when somebody asks. */
export type Look = () => Iterable<readonly [labels: Labels, value: number]>;

interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  samples(): string[];
}

/** The content type of the text. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** All metrics of a process. */
export class Metrics {
  readonly #families = new Map<string, Family>();

  /** A number that only grows. */
  counter(name: string, help: string): Counter {
    return this.#add(new Counter(name, help));
  }

  /** A number that is set, or, with `look`, one that is looked up at every reading. */
  gauge(name: string, help: string, look?: Look): Gauge {
    return this.#add(new Gauge(name, help, look));
  }

  /** How many values fall below each bound; bounds ascend, infinity is added. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return this.#add(new Histogram(name, help, bounds));
  }

  /** Everything, as Prometheus reads it. */
  text(): string {
    return [...this.#families.values()].map(written).join('');
  }

  #add<F extends Family>(family: F): F {
    const { name } = family;
    if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name)) throw new TypeError(`"${name}" is no name for a metric`);
    if (this.#families.has(name)) throw new TypeError(`metric ${name} exists already`);
    this.#families.set(name, family);
    return family;
  }
}

/** A number that only grows. */
export class Counter implements Family {
  readonly type = 'counter';
  readonly name: string;
  readonly help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(labels: Labels, by = 1): void {
    if (!(by >= 0)) throw new RangeError(`counter ${this.name} cannot grow by ${by}`);
    const series = seriesOf(this.name, labels);
    this.#values.set(series, (this.#values.get(series) ?? 0) + by);
  }

  samples(): string[] {
    return Array.from(this.#values, ([series, value]) => sample(this.name, series, value));
  }
}

/** A number that goes up and down. */
export class Gauge implements Family {
  readonly type = 'gauge';
  readonly name: string;
  readonly help: string;
  readonly #look: Look | undefined;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string, look: Look | undefined) {
    this.name = name;
    this.help = help;
    this.#look = look;
  }

  set(labels: Labels, value: number): void {
    this.#values.set(seriesOf(this.name, labels), value);
  }

  samples(): string[] {
    for (const [labels, value] of this.#looked()) this.set(labels, value);
    return Array.from(this.#values, ([series, value]) => sample(this.name, series, value));
  }

  /** What was looked up before and is not found any more has no series. */
  #looked(): ReturnType<Look> {
    if (!this.#look) return [];
    this.#values.clear();
    return this.#look();
  }
}

/** How values are distributed. */
export class Histogram implements Family {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { counts: number[]; sum: number; count: number }>();

  constructor(name: string, help: string, bounds: readonly number[]) {
    if (bounds.some((bound, index) => !Number.isFinite(bound) || bound <= (bounds[index - 1] ?? -Infinity)))
      throw new TypeError(`histogram ${name}: bounds must ascend`);
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
  }

  observe(labels: Labels, value: number): void {
    const series = seriesOf(this.name, labels);
    if ('le' in labels) throw new TypeError(`histogram ${this.name}: the label "le" is taken`);
    const found = this.#series.get(series) ?? { counts: this.#bounds.map(() => 0), sum: 0, count: 0 };
    const place = this.#bounds.findIndex((bound) => value <= bound);
    if (place !== -1) found.counts[place] = (found.counts[place] ?? 0) + 1;
    found.sum += value;
    found.count += 1;
    this.#series.set(series, found);
  }

  samples(): string[] {
    return [...this.#series].flatMap(([series, { counts, sum, count }]) => {
      const bucket = (bound: number, below: number) =>
        sample(`${this.name}_bucket`, `${series}${series && ','}le="${number(bound)}"`, below);
      let below = 0;
      const buckets = this.#bounds.map((bound, index) => bucket(bound, (below += counts[index] ?? 0)));
      const totals = [sample(`${this.name}_sum`, series, sum), sample(`${this.name}_count`, series, count)];
      return [...buckets, bucket(Infinity, count), ...totals];
    });
  }
}

/** Labels that are used again as the same object, as on a hot path, are written only once. */
const writtenLabels = new WeakMap<Labels, string>();

/** `code="200",verb="get"`: how a series is written, and at the same time its identity, whatever the order of the labels. */
function seriesOf(metric: string, labels: Labels): string {
  const known = writtenLabels.get(labels);
  if (known !== undefined) return known;
  const series = writeLabels(metric, labels);
  if (Object.isFrozen(labels)) writtenLabels.set(labels, series);
  return series;
}

function writeLabels(metric: string, labels: Labels): string {
  const names = Object.keys(labels).toSorted();
  const wrong = names.find((name) => !/^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/.test(name));
  if (wrong !== undefined) throw new TypeError(`metric ${metric}: "${wrong}" is no name for a label`);
  return names.map((name) => `${name}="${escaped(labels[name] ?? '').replaceAll('"', '\\"')}"`).join(',');
}

const written = (family: Family): string => {
  const { name, type, help } = family;
  return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...family.samples(), ''].join('\n');
};

const sample = (name: string, series: string, value: number): string =>
  `${name}${series && `{${series}}`} ${number(value)}`;

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function number(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
