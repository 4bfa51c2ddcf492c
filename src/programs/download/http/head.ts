// The head of an answer, read strictly: what two programs could read differently is refused, because then one of them
// would take a part of the body for something else.

import { Fault } from '../outcome.ts';

/** What stands before the body. Names in lower case; what came several times is joined by commas. */
export interface Head {
  status: number;
  headers: ReadonlyMap<string, string>;
  /** Whether the connection can be used again afterwards. */
  keep: boolean;
}

/** How the end of the body is told. */
export type Framing = { by: 'length'; length: number } | { by: 'chunks' } | { by: 'close' };

/** The largest head that is read. */
export const mostHead = 65_536;
const mostFields = 256;
const fieldForm = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;

/** Reads a head without its empty last line. */
export function parseHead(text: string, host: string): Head {
  const [line = '', ...fields] = text.split('\r\n');
  const [, minor, status] = /^HTTP\/1\.([01]) (\d{3})(?: .*)?$/.exec(line) ?? [];
  if (status === undefined || fields.length > mostFields) throw notHttp(host);
  const headers = new Map<string, string>();
  for (const field of fields) {
    const [, name = '', value = ''] = fieldForm.exec(field) ?? [];
    // eslint-disable-next-line no-control-regex
    if (name === '' || /[\0-\x08\x0a-\x1f\x7f]/.test(value)) throw notHttp(host);
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  const connection = (headers.get('connection') ?? '').toLowerCase();
  const keep = minor === '1' ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
  return { status: Number(status), headers, keep };
}

const notHttp = (host: string): Fault => new Fault(`${host} answered with something that is not HTTP`);

/** How long the body is. Two answers to that question are one too many. */
export function framingOf({ status, headers }: Head, host: string): Framing {
  if (status === 204 || status === 304 || status < 200) return { by: 'length', length: 0 };
  const coding = headers.get('transfer-encoding');
  const length = headers.get('content-length');
  if (coding === undefined && length === undefined) return { by: 'close' };
  if (coding !== undefined && length === undefined && coding.toLowerCase() === 'chunked') return { by: 'chunks' };
  const lengths = new Set((length ?? '').split(/\s*,\s*/));
  const [only = ''] = lengths;
  if (coding === undefined && lengths.size === 1 && /^\d{1,15}$/.test(only))
    return { by: 'length', length: Number(only) };
  throw new Fault(`${host} does not say clearly how long its answer is`);
}
