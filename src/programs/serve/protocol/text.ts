// JSON with whole numbers of 64 bits, which JavaScript's own reader would round. The exact way is slow, so it is taken only for
// models with such inputs and texts that hold so long a number.

type ExactReviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;
const parseWith = JSON.parse as (text: string, reviver: ExactReviver) => unknown;

const longNumber = /(?:^|[^\d.])\d{16,}(?![\d.eE])/;
const wholeNumber = /^-?\d+$/;

/** The value of a text; whole numbers that a double cannot hold come as bigint when `exact`. */
export function parsedJson(text: string, exact: 'exact' | 'plain'): unknown {
  if (exact === 'plain' || !longNumber.test(text)) return JSON.parse(text);
  return parseWith(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && wholeNumber.test(source)
      ? BigInt(source)
      : value,
  );
}

/** Numbers as JSON writes them; what it cannot write, like NaN, is null. */
export function writtenNumbers(values: ArrayLike<number | bigint>): string {
  let text = '';
  for (let index = 0; index < values.length; index++)
    text += (index === 0 ? '' : ',') + writtenNumber(values[index] as number | bigint);
  return `[${text}]`;
}

function writtenNumber(value: number | bigint): string {
  if (typeof value === 'bigint' || (value !== 0 && Number.isFinite(value))) return String(value);
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0';
  return 'null';
}
