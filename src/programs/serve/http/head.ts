// The head of a request: its first line and the few headers that this server acts on. Strict where leniency has let
// requests be read in two ways (folded lines, two lengths, a length beside chunks); other headers are passed over.

/** What a head says. */
export interface Head {
  method: string;
  /** As it was sent, with its query. */
  target: string;
  /** Bytes of the body, or that it comes in chunks. */
  length: number | 'chunked';
  /** Whether the connection goes on after the answer. */
  keepAlive: boolean;
  /** Whether the body is held back until it is asked for. */
  expects: boolean;
  encoding: string;
  type: string;
  /** Bytes of JSON before the binary tensors. */
  inferenceHeader: string | undefined;
}

/** Why a request is not taken. */
export class Unreadable {
  readonly status: number;
  readonly words: string;

  constructor(status: number, words: string) {
    this.status = status;
    this.words = words;
  }
}

const firstLine = /^([A-Z]{1,16}) ([!-~]+) HTTP\/1\.([01])$/;
const headerLine = /^[!#$%&'*+\-.^_`|~\w]+:[\t -~\x80-\xff]*$/;

/** Reads a head, which comes without the empty line at its end. */
export function readHead(text: string): Head | Unreadable {
  const [first = '', ...lines] = text.split('\r\n');
  const request = firstLine.exec(first);
  if (!request) return new Unreadable(400, `This is no HTTP/1.1 request: ${JSON.stringify(first.slice(0, 80))}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    if (!headerLine.test(line)) return new Unreadable(400, `This is no header: ${JSON.stringify(line.slice(0, 80))}`);
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (!known.has(name)) continue;
    if (headers.has(name) && single.has(name)) return new Unreadable(400, `The header ${name} stands there twice`);
    headers.set(name, line.slice(colon + 1).trim());
  }
  return understood(request, headers);
}

const single = new Set(['content-length', 'transfer-encoding', 'host', 'inference-header-content-length']);
const known = new Set([...single, 'connection', 'expect', 'content-encoding', 'content-type']);

function understood(request: RegExpExecArray, headers: ReadonlyMap<string, string>): Head | Unreadable {
  const [, method = '', target = '', minor] = request;
  const modern = minor === '1';
  if (modern && !headers.has('host')) return new Unreadable(400, 'The header host is missing');
  const length = lengthOf(headers, modern);
  if (length instanceof Unreadable) return length;
  const connection = (headers.get('connection') ?? '').toLowerCase();
  return {
    method,
    target,
    length,
    keepAlive: modern ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection),
    expects: modern && (headers.get('expect') ?? '').toLowerCase() === '100-continue',
    encoding: (headers.get('content-encoding') ?? 'identity').toLowerCase(),
    type: (headers.get('content-type') ?? '').toLowerCase(),
    inferenceHeader: headers.get('inference-header-content-length'),
  };
}

function lengthOf(headers: ReadonlyMap<string, string>, modern: boolean): Head['length'] | Unreadable {
  const [length, transfer] = [headers.get('content-length'), headers.get('transfer-encoding')];
  if (transfer !== undefined) {
    if (length !== undefined) return new Unreadable(400, 'A body has a length or comes in chunks, not both');
    if (!modern || transfer.toLowerCase() !== 'chunked')
      return new Unreadable(400, 'The only transfer coding is chunked');
    return 'chunked';
  }
  if (length === undefined) return 0;
  return /^\d{1,15}$/.test(length) ? Number(length) : new Unreadable(400, 'The content length is no number');
}
