// What a client sends is what the model gets and, through a model that changes nothing, what comes back: for every type, as JSON
// and as bytes. And everything else is refused with words that name the tensor.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { toBytes } from './binary.ts';
import { Refusal } from './refusal.ts';
import { type Inference, readInference } from './request.ts';
import { inferenceAnswer } from './response.ts';
import type { Signature } from './signature.ts';
import { type DataType, halvesFrom, makerOf, type Tensor } from './types.ts';

const whole = (bits: number, signed: boolean) =>
  fc.bigInt(
    signed
      ? { min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n }
      : { min: 0n, max: 2n ** BigInt(bits) - 1n },
  );
const small = (bits: number, signed: boolean) => whole(bits, signed).map(Number);
const finite = { noNaN: true, noDefaultInfinity: true } as const;

const elements: Record<DataType, fc.Arbitrary<unknown>> = {
  BOOL: fc.integer({ min: 0, max: 1 }),
  UINT8: small(8, false),
  UINT16: small(16, false),
  UINT32: small(32, false),
  UINT64: whole(64, false),
  INT8: small(8, true),
  INT16: small(16, true),
  INT32: small(32, true),
  INT64: whole(64, true),
  FP16: fc.integer({ min: -2_000, max: 2_000 }).map((value) => halvesFrom([value / 16])[0]),
  FP32: fc.float(finite),
  FP64: fc.double(finite),
  BYTES: fc.string({ unit: 'grapheme', maxLength: 10 }).map((text) => text.replaceAll('\0', '.')),
};
const types = Object.keys(elements) as DataType[];

/** A tensor of any type and shape. */
const tensors: fc.Arbitrary<Tensor> = fc
  .tuple(fc.constantFrom(...types), fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }))
  .chain(([type, shape]) => {
    const size = shape.reduce((product, one) => product * one, 1);
    return fc
      .array(elements[type], { minLength: size, maxLength: size })
      .map((values) => tensorOf(type, shape, values));
  });

function tensorOf(type: DataType, shape: number[], values: unknown[]): Tensor {
  if (type === 'BYTES') return { type, shape, data: values as string[] };
  const data = new (makerOf(type))(values.length);
  values.forEach((value, index) => {
    data[index] = value as number;
  });
  return { type, shape, data };
}

/** The tensor as our own answers write it, which is also how a request may. */
const named = (index: number) => `t${index}`;
const signatureFor = (all: readonly Tensor[]): Signature => {
  const ports = all.map(({ type, shape }, index) => ({ name: named(index), type, shape: shape.map(() => 'n') }));
  return { inputs: ports, outputs: ports };
};

/** Lists of so many of the parts each; of none, there is no telling how many. */
const grouped = (parts: unknown[], length: number): unknown[] =>
  Array.from({ length: length === 0 ? 0 : parts.length / length }, (_, index) =>
    parts.slice(index * length, (index + 1) * length),
  );

/** A request with these tensors: some as bytes, the others as JSON. */
function requestFor(all: readonly Tensor[], binary: readonly boolean[]): { bytes: Buffer; header: string | undefined } {
  const { body } = inferenceAnswer(askedFor(all, binary), all, { name: 'm', version: '1' });
  const [text, ...parts] = typeof body === 'string' ? [body] : body;
  const asked = text.replace(/^.*?"outputs"/, '{"inputs"');
  return {
    bytes: Buffer.concat([Buffer.from(asked), ...parts]),
    header: parts.length > 0 ? String(Buffer.byteLength(asked)) : undefined,
  };
}

const askedFor = (all: readonly Tensor[], binary: readonly boolean[]): Inference => ({
  inputs: all,
  outputs: signatureFor(all).outputs.map((port, index) => ({ port, binary: binary[index] ?? false })),
});

const taken = (read: Inference | Refusal): Inference => {
  ok(!(read instanceof Refusal), read instanceof Refusal ? read.words : '');
  return read;
};

describe('a request', () => {
  test('gives the tensors that were sent, as bytes or as JSON, whatever their type', () => {
    const few = fc.array(tensors, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(few, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), (all, binary) => {
        const read = taken(readInference(requestFor(all, binary), signatureFor(all)));
        // Zero has a sign in bytes that JSON writes too, so the bytes must be equal.
        deepEqual(
          read.inputs.map((one) => Buffer.from(toBytes(one))),
          all.map((one) => Buffer.from(toBytes(one))),
        );
        deepEqual(
          read.inputs.map(({ shape }) => shape),
          all.map(({ shape }) => shape),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  const x: Signature = {
    inputs: [{ name: 'x', type: 'FP32', shape: ['batch', 2] }],
    outputs: [
      { name: 'y', type: 'FP32', shape: ['batch', 1] },
      { name: 'z', type: 'FP32', shape: ['batch', 1] },
    ],
  };
  const read = (request: unknown, signature = x) =>
    readInference(
      { bytes: Buffer.from(typeof request === 'string' ? request : JSON.stringify(request)), header: undefined },
      signature,
    );
  const input = { name: 'x', shape: [1, 2], datatype: 'FP32', data: [1, 2] };

  test('may have its data in nested lists', () => {
    const { inputs } = taken(
      read({
        inputs: [
          {
            ...input,
            shape: [2, 2],
            data: [
              [1, 2],
              [3, 4],
            ],
          },
        ],
      }),
    );
    deepEqual(inputs[0]?.data, Float32Array.of(1, 2, 3, 4));
  });

  test('has the same data in nested lists as in a flat one, whatever its shape', () => {
    const shapes = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(shapes, (shape) => {
        const flat = Array.from({ length: shape.reduce((product, one) => product * one, 1) }, (_, index) => index);
        const nested = shape.toReversed().slice(0, -1).reduce<unknown[]>(grouped, flat);
        const port = { name: 'v', type: 'FP32', shape: shape.map(() => 'n') } as const;
        const all = { name: 'v', shape, datatype: 'FP32' };
        const data = (list: unknown[]) => taken(read({ inputs: [{ ...all, data: list }] }, { ...x, inputs: [port] }));
        deepEqual(data(nested).inputs[0]?.data, data(flat).inputs[0]?.data);
      }),
    );
  });

  test('asks for all outputs unless it names some, and for bytes where it says so', () => {
    const outputs = (request: object) =>
      taken(read({ inputs: [input], ...request })).outputs.map(
        ({ port, binary }) => `${port.name}${binary ? ' bytes' : ''}`,
      );
    deepEqual(outputs({}), ['y', 'z']);
    deepEqual(outputs({ outputs: [{ name: 'z' }] }), ['z']);
    deepEqual(outputs({ parameters: { binary_data_output: true } }), ['y bytes', 'z bytes']);
    deepEqual(outputs({ outputs: [{ name: 'z', parameters: { binary_data: true } }, { name: 'y' }] }), [
      'z bytes',
      'y',
    ]);
    const mixed = {
      parameters: { binary_data_output: true },
      outputs: [{ name: 'y', parameters: { binary_data: false } }],
    };
    deepEqual(outputs(mixed), ['y']);
  });

  test('ignores parameters that mean nothing here', () => {
    taken(
      read({ inputs: [{ ...input, parameters: { mood: 'good' } }], parameters: { priority: 3, sequence_id: 'a' } }),
    );
  });

  test('keeps whole numbers of 64 bits exact', () => {
    const long: Signature = { inputs: [{ name: 'i', type: 'INT64', shape: [3] }], outputs: x.outputs };
    const text =
      '{"inputs":[{"name":"i","shape":[3],"datatype":"INT64","data":[9223372036854775807,-9007199254740993,7]}]}';
    deepEqual(taken(read(text, long)).inputs[0]?.data, BigInt64Array.of(9223372036854775807n, -9007199254740993n, 7n));
  });

  const bytes = (value: object, tail: Uint8Array, header?: string) => {
    const text = Buffer.from(JSON.stringify(value));
    return readInference({ bytes: Buffer.concat([text, tail]), header: header ?? String(text.length) }, x);
  };
  const binary = (size: unknown) => ({
    inputs: [{ name: 'x', shape: [1, 2], datatype: 'FP32', parameters: { binary_data_size: size } }],
  });
  const type = (datatype: DataType, data: unknown[]) =>
    read(
      { inputs: [{ name: 'v', shape: [1], datatype, data }] },
      { ...x, inputs: [{ name: 'v', type: datatype, shape: [1] }] },
    );

  const refusals: [name: string, result: Inference | Refusal, says: RegExp][] = [
    ['no JSON', read('{'), /no JSON/],
    ['a list', read('[]'), /JSON object/],
    ['no inputs', read({}), /inputs must be a list.*"x" FP32 \[batch,2\]/],
    ['an id that is a number', read({ id: 7, inputs: [input] }), /id must be a string/],
    ['an input that is missing', read({ inputs: [] }), /missing: "x" FP32 \[batch,2\]/],
    ['an input that does not exist', read({ inputs: [{ ...input, name: 'q' }] }), /no input "q": it takes "x" FP32/],
    ['an input given twice', read({ inputs: [input, input] }), /"x" is given twice/],
    [
      'another type',
      read({ inputs: [{ ...input, datatype: 'INT64' }] }),
      /"x" should be FP32 \[batch,2\], but is INT64 \[1,2\]/,
    ],
    ['no type', read({ inputs: [{ ...input, datatype: undefined }] }), /but is no datatype/],
    [
      'another shape',
      read({ inputs: [{ ...input, shape: [1, 3] }] }),
      /"x" should be FP32 \[batch,2\], but is FP32 \[1,3\]/,
    ],
    ['another rank', read({ inputs: [{ ...input, shape: [2] }] }), /but is FP32 \[2\]/],
    ['a shape that is none', read({ inputs: [{ ...input, shape: [1.5, 2] }] }), /must have a shape/],
    ['a negative shape', read({ inputs: [{ ...input, shape: [-1, 2] }] }), /must have a shape/],
    ['a shape beyond counting', read({ inputs: [{ ...input, shape: [2 ** 52, 2] }] }), /must have a shape/],
    ['too few elements', read({ inputs: [{ ...input, data: [1] }] }), /"x" has 1 elements, but shape \[1,2\] has 2/],
    ['no data', read({ inputs: [{ ...input, data: undefined }] }), /"x" has neither data nor/],
    [
      'an element of another kind',
      read({ inputs: [{ ...input, data: [1, 'a'] }] }),
      /"x": element 1 is "a", which is no FP32/,
    ],
    ['nothing for an element', read({ inputs: [{ ...input, data: [null, 1] }] }), /element 0 is null/],
    ['lists that are too deep', read({ inputs: [{ ...input, data: [[[[1]], 2]] }] }), /element 0 is \[\[1\]\], which/],
    [
      'lists of other lengths that make up the count',
      read({ inputs: [{ ...input, shape: [3, 2], data: [[1, 2], [3], [4, 5, 6]] }] }),
      /"x": data\[1\] has 1 elements, but shape \[3,2\] has 2 there/,
    ],
    [
      'more lists than rows',
      read({ inputs: [{ ...input, data: [[1], [2]] }] }),
      /"x": data has 2 elements, but shape \[1,2\] has 1 there/,
    ],
    [
      'a number beside lists',
      read({ inputs: [{ ...input, shape: [3, 2], data: [[1, 2, 3, 4, 5], 6, []] }] }),
      /"x": data\[0\] has 5 elements/,
    ],
    ['a number for a list', read({ inputs: [{ ...input, shape: [2, 2], data: [[1, 2], 3] }] }), /data\[1\] is 3, but/],
    [
      'a list in the depth',
      read(
        {
          inputs: [
            {
              name: 'v',
              shape: [2, 2, 1],
              datatype: 'FP32',
              data: [
                [[1], [2]],
                [[3, 4], []],
              ],
            },
          ],
        },
        { ...x, inputs: [{ name: 'v', type: 'FP32', shape: [2, 2, 1] }] },
      ),
      /"v": data\[1\]\[0\] has 2 elements, but shape \[2,2,1\] has 1 there/,
    ],
    [
      'an output that does not exist',
      read({ inputs: [input], outputs: [{ name: 'q' }] }),
      /no output .*"q".*it gives "y" FP32/,
    ],
    ['an output asked for twice', read({ inputs: [input], outputs: [{ name: 'y' }, { name: 'y' }] }), /twice/],
    [
      'classification',
      read({ inputs: [input], outputs: [{ name: 'y', parameters: { classification: 3 } }] }),
      /classification/,
    ],
    ['a number out of range', type('INT8', [300]), /element 0 is 300, which is no INT8/],
    ['a fraction for a whole number', type('INT32', [0.5]), /no INT32/],
    ['a negative for one without sign', type('UINT64', [-1]), /no UINT64/],
    ['a number for a truth', type('BOOL', [1]), /no BOOL/],
    ['a zero in text', type('BYTES', ['a\0b']), /no BYTES/],
    ['a number for text', type('BYTES', [1]), /no BYTES/],
    ['bytes that are missing', bytes(binary(8), Buffer.alloc(4)), /binary_data_size of 8, but only 4 bytes are left/],
    ['bytes that do not fit the shape', bytes(binary(4), Buffer.alloc(4)), /has 4 bytes, but FP32 \[1,2\] has 8/],
    ['bytes that belong to none', bytes(binary(8), Buffer.alloc(9)), /1 bytes follow/],
    ['a size that is none', bytes(binary('8'), Buffer.alloc(8)), /whole number/],
    [
      'a JSON part longer than the body',
      bytes(binary(8), Buffer.alloc(8), '999'),
      /Inference-Header-Content-Length is 999/,
    ],
    ['a JSON part without a number', bytes(binary(8), Buffer.alloc(8), 'x'), /Inference-Header-Content-Length is x/],
  ];
  for (const [name, result, says] of refusals)
    test(`is refused for ${name}`, () => {
      ok(result instanceof Refusal, 'it was taken');
      match(result.words, says);
      equal(result.status, 400);
    });
});

describe('text as bytes', () => {
  const signature: Signature = {
    inputs: [{ name: 's', type: 'BYTES', shape: ['n'] }],
    outputs: [{ name: 's', type: 'BYTES', shape: ['n'] }],
  };
  const read = (tail: Buffer, count: number) => {
    const text = JSON.stringify({
      inputs: [{ name: 's', shape: [count], datatype: 'BYTES', parameters: { binary_data_size: tail.length } }],
    });
    return readInference({ bytes: Buffer.concat([Buffer.from(text), tail]), header: String(text.length) }, signature);
  };
  const refusals: [name: string, tail: number[], count: number, says: RegExp][] = [
    ['an element that ends behind the data', [9, 0, 0, 0, 65], 1, /element 0 ends behind/],
    ['fewer elements than the shape', [1, 0, 0, 0, 65], 2, /exactly 2 elements/],
    ['more elements than the shape', [1, 0, 0, 0, 65, 0, 0, 0, 0], 1, /exactly 1 elements/],
    ['bytes that are no text', [1, 0, 0, 0, 0xff], 1, /no UTF-8/],
    ['a zero, at which it would be cut', [2, 0, 0, 0, 65, 0], 1, /no UTF-8 text without zeros/],
  ];
  for (const [name, tail, count, says] of refusals)
    test(`is refused for ${name}`, () => {
      const result = read(Buffer.from(tail), count);
      ok(result instanceof Refusal);
      match(result.words, says);
    });
});

describe('an answer', () => {
  test('keeps the sign of zero, and writes what JSON cannot as null', () => {
    const data = Float32Array.of(-0, Number.NaN, Infinity);
    const { body } = inferenceAnswer(
      askedFor([{ type: 'FP32', shape: [3], data }], []),
      [{ type: 'FP32', shape: [3], data }],
      {
        name: 'm',
        version: '1',
      },
    );
    match(String(body), /"data":\[-0.0,null,null\]/);
  });

  test('has the id of its request', () => {
    const { body } = inferenceAnswer({ id: 'a"b', inputs: [], outputs: [] }, [], { name: 'm', version: '1' });
    deepEqual(JSON.parse(String(body)), { id: 'a"b', model_name: 'm', model_version: '1', outputs: [] });
  });
});
