// Tensors out of JSON: nested or flat lists of elements, each held against its type. A wrong element is named by its place.

import { Refusal } from './refusal.ts';
import { halvesFrom, makerOf, type Numbers, type NumberType, sizeOf, type Tensor, type DataType } from './types.ts';

/** What a tensor should be. */
export interface Expected {
  name: string;
  type: DataType;
  shape: readonly number[];
}

/** The tensor that a list from JSON stands for. */
export function fromList(list: unknown, expected: Expected): Tensor | Refusal {
  const { name, type, shape } = expected;
  if (!Array.isArray(list)) return new Refusal(`input "${name}" has neither data nor a binary_data_size`);
  const flat = Array.isArray(list[0]) ? flattened(list, expected) : (list as unknown[]);
  if (flat instanceof Refusal) return flat;
  const size = sizeOf(shape);
  if (flat.length !== size)
    return new Refusal(`input "${name}" has ${flat.length} elements, but shape [${shape.join(',')}] has ${size}`);
  const data = type === 'BYTES' ? strings(flat) : numbers(flat, type);
  if (data instanceof Wrong)
    return new Refusal(`input "${name}": element ${data.at} is ${shown(flat[data.at])}, which is no ${type}`);
  return { type, shape, data } as Tensor;
}

/** The elements of nested lists, each as long as the shape says: one too long would lend its elements to the next. */
function flattened(list: unknown[], { name, shape }: Expected): unknown[] | Refusal {
  let lists: unknown[] = [list];
  for (const [depth, length] of shape.entries()) {
    const odd = lists.findIndex((one) => !Array.isArray(one) || one.length !== length);
    if (odd >= 0) {
      const found = lists[odd];
      const is = Array.isArray(found) ? `has ${found.length} elements` : `is ${shown(found)}`;
      const place = `data${placeOf(odd, shape.slice(0, depth))}`;
      return new Refusal(`input "${name}": ${place} ${is}, but shape [${shape.join(',')}] has ${length} there`);
    }
    lists = lists.flat();
  }
  return lists;
}

/** The indices that lead to one of all lists at a depth. */
function placeOf(index: number, lengths: readonly number[]): string {
  let rest = index;
  const indices = lengths.toReversed().map((length) => {
    const at = rest % length;
    rest = Math.floor(rest / length);
    return `[${at}]`;
  });
  return indices.toReversed().join('');
}

/** The place of an element that is not of the type. */
class Wrong {
  readonly at: number;

  constructor(at: number) {
    this.at = at;
  }
}

const shown = (value: unknown): string =>
  (typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'nothing')).slice(0, 40);

function strings(flat: readonly unknown[]): string[] | Wrong {
  const at = flat.findIndex((value) => typeof value !== 'string' || value.includes('\0'));
  return at < 0 ? (flat as string[]) : new Wrong(at);
}

function numbers(flat: readonly unknown[], type: NumberType): Numbers | Wrong {
  if (type === 'FP32' || type === 'FP64') return floats(flat, new (makerOf(type))(flat.length) as Float32Array);
  if (type === 'FP16') return halves(flat);
  if (type === 'BOOL') return booleans(flat);
  if (type === 'INT64') return bigs(flat, new BigInt64Array(flat.length), [-(2n ** 63n), 2n ** 63n - 1n]);
  if (type === 'UINT64') return bigs(flat, new BigUint64Array(flat.length), [0n, 2n ** 64n - 1n]);
  return integers(flat, new (makerOf(type))(flat.length) as Int32Array);
}

function floats(flat: readonly unknown[], into: Float32Array): Numbers | Wrong {
  for (let index = 0; index < flat.length; index++) {
    const value = flat[index];
    if (typeof value === 'number') into[index] = value;
    else if (typeof value === 'bigint') into[index] = Number(value);
    else return new Wrong(index);
  }
  return into;
}

function halves(flat: readonly unknown[]): Numbers | Wrong {
  const exact = floats(flat, new Float64Array(flat.length) as unknown as Float32Array);
  return exact instanceof Wrong ? exact : halvesFrom(Array.from(exact as Float32Array));
}

function booleans(flat: readonly unknown[]): Numbers | Wrong {
  const at = flat.findIndex((value) => typeof value !== 'boolean');
  return at < 0 ? Uint8Array.from(flat as boolean[], Number) : new Wrong(at);
}

/** What is out of range does not survive being stored. */
function integers(flat: readonly unknown[], into: Int32Array): Numbers | Wrong {
  for (let index = 0; index < flat.length; index++) {
    const value = flat[index];
    if (typeof value !== 'number') return new Wrong(index);
    into[index] = value;
    if (into[index] !== value) return new Wrong(index);
  }
  return into;
}

function bigs(
  flat: readonly unknown[],
  into: BigInt64Array | BigUint64Array,
  range: [bigint, bigint],
): Numbers | Wrong {
  for (let index = 0; index < flat.length; index++) {
    const value = wholeOf(flat[index]);
    if (value === undefined || value < range[0] || value > range[1]) return new Wrong(index);
    into[index] = value;
  }
  return into;
}

function wholeOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}
