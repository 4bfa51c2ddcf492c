// What the operator tells our model server: its arguments, written on one side and read on the other by the functions below.

import { parseArgs } from 'node:util';

/** What `serve` is told. */
export interface ServeOrder {
  /** Folder of the weights with exactly one `*.onnx` in it, or that file itself. */
  model: string;
  /** By which clients ask for it: `/v2/models/<name>`. */
  name: string;
  port: number;
  /** The only address to listen on; all of them if there is none. */
  host?: string;
  /** Threads of one run; as many as the CPU limit allows if there is no number. */
  threads?: number;
  /** Most bytes of a request's body, also after it was unpacked. */
  bodyLimit: number;
  /** Whether requests that wait are run together: `auto` where the model's shapes allow it. */
  batching: 'auto' | 'off';
  /** Most rows in one run of several requests. */
  batchRows: number;
  /** Most requests that wait for the model. */
  queue: number;
  /** Most seconds from SIGTERM to the end. */
  drainSeconds: number;
}

/** What holds where nothing is said. */
export const serveDefaults = {
  name: 'model',
  port: 8080,
  bodyLimit: 64 * 1024 ** 2,
  batching: 'auto',
  batchRows: 64,
  queue: 1_024,
  drainSeconds: 25,
} as const satisfies Partial<ServeOrder>;

const flags = {
  model: 'model',
  name: 'name',
  port: 'port',
  host: 'host',
  threads: 'threads',
  bodyLimit: 'body-limit',
  batching: 'batching',
  batchRows: 'batch-rows',
  queue: 'queue',
  drainSeconds: 'drain-seconds',
} as const satisfies Record<keyof ServeOrder, string>;

/** What `--help` prints. */
export const serveHelp = (): string => {
  const defaults: Record<string, unknown> = serveDefaults;
  const lines = Object.entries(flags).map(([key, flag]) => {
    const initially = key in defaults ? ` (default ${String(defaults[key])})` : '';
    return `  --${flag}=...${initially}\n`;
  });
  return `Usage: serve --model=FOLDER [ARGUMENTS]\n\nServes the only *.onnx file in the folder. See docs/spec/serve.md.\n\n${lines.join('')}`;
};

/** The arguments of `serve`; what is not named is left at its default. */
export const serveArguments = (order: Pick<ServeOrder, 'model'> & Partial<ServeOrder>): string[] => [
  'serve',
  ...Object.entries(flags).flatMap(([key, flag]) => {
    const value = order[key as keyof ServeOrder];
    return value === undefined ? [] : [`--${flag}=${value}`];
  }),
];

/** Bounds of the numbers. */
const bounds = {
  port: [0, 65_535],
  threads: [1, 1_024],
  bodyLimit: [1_024, 2 ** 31 - 1],
  batchRows: [1, 65_536],
  queue: [1, 1_000_000],
  drainSeconds: [0, 3_600],
} as const satisfies Partial<Record<keyof ServeOrder, readonly [number, number]>>;

/** The order in arguments, with or without the word `serve` before them; or what is wrong with it, in words. */
export function heardServe(args: readonly string[]): { order: ServeOrder } | { wrong: string } {
  const given = valuesIn(args[0] === 'serve' ? args.slice(1) : args);
  if ('wrong' in given) return given;
  const { model, host, name = serveDefaults.name, batching = serveDefaults.batching } = given.values;
  if (!model) return { wrong: '--model is missing: the folder of the weights' };
  if (batching !== 'auto' && batching !== 'off') return { wrong: `--batching must be auto or off, not ${batching}` };
  const order: Record<string, unknown> = { ...serveDefaults, model, name, batching, ...(host && { host }) };
  for (const [key, [least, most]] of Object.entries(bounds)) {
    const text = given.values[flags[key as keyof typeof bounds]];
    if (text === undefined) continue;
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      return {
        wrong: `--${flags[key as keyof typeof bounds]} must be a whole number from ${least} to ${most}, not "${text}"`,
      };
    order[key] = value;
  }
  return { order: order as unknown as ServeOrder };
}

function valuesIn(args: readonly string[]): { values: Record<string, string | undefined> } | { wrong: string } {
  const options = Object.fromEntries(Object.values(flags).map((flag) => [flag, { type: 'string' as const }]));
  try {
    return { values: parseArgs({ args: [...args], options }).values };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : 'the arguments cannot be read' };
  }
}
