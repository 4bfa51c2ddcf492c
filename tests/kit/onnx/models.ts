// Small real models, with the numbers that they must give. The tests serve them, and so does the demo.

import { closeSync, openSync, writeSync } from 'node:fs';
import { type ElementType, elementType, encoded, floats, type Graph, type Initializer, pieces } from './graph.ts';

/** Which iris is it? Coefficients of a logistic regression on Fisher's measurements, one column a species. */
export const iris: {
  species: readonly string[];
  weights: readonly (readonly number[])[];
  intercept: readonly number[];
  /** Sepal length and width, petal length and width in cm; one flower of each species. */
  flowers: readonly (readonly number[])[];
} = {
  species: ['setosa', 'versicolor', 'virginica'],
  weights: [
    [-0.4235, 0.5345, -0.111],
    [0.9673, -0.3216, -0.6457],
    [-2.5171, -0.2064, 2.7235],
    [-1.0794, -0.9442, 2.0236],
  ],
  intercept: [9.8506, 2.2372, -12.0878],
  flowers: [
    [5.1, 3.5, 1.4, 0.2],
    [6.0, 2.7, 4.2, 1.3],
    [6.7, 3.0, 5.2, 2.3],
  ],
};

/** The classifier: `measurements` FP32 [batch,4] to `probabilities` FP32 [batch,3] and `species` INT64 [batch]. */
export const irisModel = (): Buffer =>
  encoded({
    name: 'iris',
    inputs: [{ name: 'measurements', type: 'FP32', shape: ['batch', 4] }],
    outputs: [
      { name: 'probabilities', type: 'FP32', shape: ['batch', 3] },
      { name: 'species', type: 'INT64', shape: ['batch'] },
    ],
    initializers: [matrix('weights', [4, 3], iris.weights.flat()), matrix('intercept', [3], iris.intercept)],
    nodes: [
      { op: 'Gemm', inputs: ['measurements', 'weights', 'intercept'], outputs: ['scores'] },
      { op: 'Softmax', inputs: ['scores'], outputs: ['probabilities'], attributes: { axis: -1 } },
      { op: 'ArgMax', inputs: ['scores'], outputs: ['species'], attributes: { axis: 1, keepdims: 0 } },
    ],
  });

/** What the classifier gives for one flower, by the same sums in plain code. */
export function irisProbabilities(flower: readonly number[]): number[] {
  const scores = iris.intercept.map((intercept, kind) =>
    iris.weights.reduce((sum, row, index) => sum + (row[kind] ?? 0) * (flower[index] ?? 0), intercept),
  );
  const powers = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/** Gives back what it gets: for every type an input `in_<type>` and an output `out_<type>`, of any length and width 2. */
export function echoModel(types: readonly ElementType[] = Object.keys(elementType) as ElementType[]): Buffer {
  const port = (side: 'in' | 'out') => (type: ElementType) =>
    ({ name: `${side}_${type}`, type, shape: ['batch', 2] }) as const;
  return encoded({
    name: 'echo',
    inputs: types.map(port('in')),
    outputs: types.map(port('out')),
    nodes: types.map((type) => ({ op: 'Identity', inputs: [`in_${type}`], outputs: [`out_${type}`] })),
  });
}

/** A perceptron with one hidden layer: `x` FP32 [batch,inputs] to `y` FP32 [batch,outputs]; its weights are a wave. */
export function perceptronModel({ inputs = 16, hidden = 64, outputs = 4 } = {}): Buffer {
  return encoded({
    name: 'perceptron',
    inputs: [{ name: 'x', type: 'FP32', shape: ['batch', inputs] }],
    outputs: [{ name: 'y', type: 'FP32', shape: ['batch', outputs] }],
    initializers: [
      matrix('w1', [inputs, hidden], wave(inputs * hidden)),
      matrix('b1', [hidden], wave(hidden)),
      matrix('w2', [hidden, outputs], wave(hidden * outputs)),
      matrix('b2', [outputs], wave(outputs)),
    ],
    nodes: [
      { op: 'Gemm', inputs: ['x', 'w1', 'b1'], outputs: ['first'] },
      { op: 'Relu', inputs: ['first'], outputs: ['bent'] },
      { op: 'Gemm', inputs: ['bent', 'w2', 'b2'], outputs: ['second'] },
      { op: 'Softmax', inputs: ['second'], outputs: ['y'], attributes: { axis: -1 } },
    ],
  });
}

/** One node that turns `x` into `y`. */
export const oneNode = (
  op: string,
  [x, y]: readonly [Graph['inputs'][number], Graph['outputs'][number]],
  more: { attributes?: NonNullable<Graph['nodes'][number]['attributes']>; initializers?: Initializer[] } = {},
): Buffer => {
  const { attributes = {}, initializers = [] } = more;
  const inputs = [x.name, ...initializers.map(({ name }) => name)];
  return encoded({
    name: op,
    inputs: [x],
    outputs: [y],
    initializers,
    nodes: [{ op, inputs, outputs: [y.name], attributes }],
  });
};

/** Columns of the large table. */
export const tableWidth = 64;

/** What stands in the large table of this seed. */
export const tableCell = (seed: number, row: number, column: number): number =>
  Math.fround((Math.imul(row * tableWidth + column + seed, 0x9e3779b1) >>> 8) / 2 ** 24);

/**
 * A model of about so many MiB, for downloads that take their time: a table whose rows are looked up, `row` INT64 [batch] to
 * `cells` FP32 [batch,64]. Its numbers depend on the seed and do not compress.
 */
export function writeTableModel(
  path: string,
  { mebibytes, seed }: { mebibytes: number; seed: number },
): { rows: number } {
  const rows = Math.ceil((mebibytes * 1024 ** 2) / (tableWidth * 4));
  const table = new Float32Array(rows * tableWidth);
  for (let cell = 0; cell < table.length; cell++) table[cell] = (Math.imul(cell + seed, 0x9e3779b1) >>> 8) / 2 ** 24;
  const graph: Graph = {
    name: 'table',
    inputs: [{ name: 'row', type: 'INT64', shape: ['batch'] }],
    outputs: [{ name: 'cells', type: 'FP32', shape: ['batch', tableWidth] }],
    initializers: [{ name: 'table', type: 'FP32', dims: [rows, tableWidth], data: new Uint8Array(table.buffer) }],
    nodes: [{ op: 'Gather', inputs: ['table', 'row'], outputs: ['cells'], attributes: { axis: 0 } }],
  };
  const file = openSync(path, 'w');
  try {
    for (const piece of pieces(graph)) for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
  } finally {
    closeSync(file);
  }
  return { rows };
}

/** A tensor of floats within a model. */
export const matrix = (name: string, dims: readonly number[], values: readonly number[]): Initializer => ({
  name,
  type: 'FP32',
  dims,
  data: floats(values),
});

const wave = (length: number): number[] => Array.from({ length }, (_, index) => Math.sin(index) * 0.1);
