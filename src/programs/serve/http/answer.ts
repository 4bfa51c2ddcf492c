// What goes back: status, a few headers, a body. Small answers leave in one piece, so that they cost one write; large tensors are
// handed to the socket as they are, without a copy.

import type { Writable } from 'node:stream';

/** An answer. A body of several parts is sent one after the other. */
export interface Answer {
  status: number;
  type: string;
  headers?: Readonly<Record<string, string>>;
  body: string | readonly [json: string, ...tensors: Uint8Array[]];
}

/** An answer in JSON. */
export const json = (status: number, value: unknown): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
});

/** An error as the inference protocol writes it. */
export const failure = (status: number, error: string): Answer => ({
  ...json(status, { error }),
  ...(status === 503 && { headers: { 'Retry-After': '1' } }),
});

const reasons: Record<number, string> = {
  200: 'OK',
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** Tensors up to this many bytes are copied into one piece with the rest: cheaper than a second buffer for the kernel. */
const copied = 16_384;

/** How an answer leaves. */
export interface Manner {
  close: boolean;
  /** Only the head, for a request that asked for no more. */
  bodiless: boolean;
}

/** Writes an answer to a socket. */
export function write(socket: Writable, answer: Answer, { close, bodiless }: Manner): void {
  const { body } = answer;
  const text = typeof body === 'string' ? body : body[0];
  const tensors = typeof body === 'string' ? [] : (body.slice(1) as Uint8Array[]);
  const size = Buffer.byteLength(text);
  const more = tensors.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const head = headOf(answer, { length: size + more, close });
  if (bodiless) return void socket.write(head, 'latin1');
  if (tensors.length === 0) return void socket.write(head + text, size === text.length ? 'latin1' : 'utf8');
  if (more <= copied) return void socket.write(joined(head + text, head.length + size, tensors));
  socket.cork();
  socket.write(head + text, 'utf8');
  for (const tensor of tensors) socket.write(tensor);
  socket.uncork();
}

function headOf({ status, type, headers = {} }: Answer, { length, close }: { length: number; close: boolean }): string {
  let head = `HTTP/1.1 ${status} ${reasons[status] ?? 'Unknown'}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  return `${head}${close ? 'Connection: close\r\n' : ''}\r\n`;
}

function joined(text: string, size: number, tensors: readonly Uint8Array[]): Buffer {
  const whole = Buffer.allocUnsafe(size + tensors.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = whole.write(text);
  for (const tensor of tensors) {
    whole.set(tensor, at);
    at += tensor.byteLength;
  }
  return whole;
}
