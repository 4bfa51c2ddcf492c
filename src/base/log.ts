// Log lines for people and machines: the message is a constant, values are fields, one JSON object a line
// (or `key=value` text for a terminal). Whoever handles an error logs it, nobody else.

export type Level = 'debug' | 'info' | 'warn' | 'error';
export type Fields = Record<string, unknown>;

export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A log whose lines all carry these fields. */
  with(fields: Fields): Log;
}

export interface LogOptions {
  level: Level;
  format: 'json' | 'text';
  now: () => number;
  write: (line: string) => void;
}

const rank: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** A log that writes whole lines through `write`. */
export function makeLog(options: LogOptions, bound: Fields = {}): Log {
  const at = (level: Level) => (message: string, fields?: Fields) => {
    if (rank[level] < rank[options.level]) return;
    options.write(render(options, level, message, { ...bound, ...fields }));
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => makeLog(options, { ...bound, ...fields }),
  };
}

/** A log that says nothing. */
export const silent: Log = makeLog({ level: 'error', format: 'text', now: () => 0, write: () => {} });

function render({ format, now }: LogOptions, level: Level, message: string, fields: Fields): string {
  const time = new Date(now()).toISOString();
  const plain = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, readable(value)]));
  const head = { time, level, message }; // first for the eye, and last so that no field can take their place
  if (format === 'json') return `${jsonText({ ...head, ...plain, ...head })}\n`;
  const pairs = Object.entries(plain).map(([key, value]) => ` ${key}=${quoted(value)}`);
  return `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${message}${pairs.join('')}\n`;
}

/** An error as one line with its causes; everything else as it is. */
function readable(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const cause = value.cause instanceof Error ? `: ${String(readable(value.cause))}` : '';
  return `${value.message}${cause}`;
}

/** A log line must never be what fails: what JSON cannot hold is said in other words. */
function jsonText(value: unknown): string {
  const seen = new Set<unknown>();
  const plain = (_key: string, inner: unknown): unknown => {
    if (typeof inner === 'bigint') return String(inner);
    if (typeof inner !== 'object' || inner === null) return inner;
    if (seen.has(inner)) return '(repeated)';
    seen.add(inner);
    return inner;
  };
  return JSON.stringify(value, plain) ?? 'null';
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : jsonText(value);
  return /^[\w./:@+-]+$/.test(text) ? text : JSON.stringify(text);
}
