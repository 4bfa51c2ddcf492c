// An inference request: JSON, perhaps followed by the bytes of tensors, held against what the model takes. Whoever sent
// something else is told which tensor it is about, what was expected, and what came. Parameters that mean nothing here are ignored.

import { fromBytes } from './binary.ts';
import { Refusal } from './refusal.ts';
import { described, fits, listed, type Port, type Signature } from './signature.ts';
import { parsedJson } from './text.ts';
import { sizeOf, type Tensor } from './types.ts';
import { fromList } from './values.ts';

/** An output that is asked for, and whether as bytes. */
export interface AskedOutput {
  port: Port;
  binary: boolean;
}

/** What a request asks for; the inputs are in the order of the model. */
export interface Inference {
  id?: string;
  inputs: readonly Tensor[];
  outputs: readonly AskedOutput[];
}

type Json = Record<string, unknown>;

/** A body with its JSON part of `header` bytes; all of it is JSON where there is no such number. */
export interface Body {
  bytes: Buffer;
  header: string | undefined;
}

/** Reads a request. */
export function readInference({ bytes, header }: Body, signature: Signature): Inference | Refusal {
  const length = header === undefined ? bytes.length : Number(header);
  if (!/^\d{1,15}$/.test(header ?? '0') || length > bytes.length)
    return new Refusal(`Inference-Header-Content-Length is ${header}, but the body has ${bytes.length} bytes`);
  const request = readJson(bytes.toString('utf8', 0, length), signature);
  if (request instanceof Refusal) return request;
  if (request['id'] !== undefined && typeof request['id'] !== 'string') return new Refusal('id must be a string');
  const inputs = readInputs(request['inputs'], bytes.subarray(length), signature);
  if (inputs instanceof Refusal) return inputs;
  const outputs = readOutputs(request, signature);
  if (outputs instanceof Refusal) return outputs;
  return { ...(request['id'] !== undefined && { id: request['id'] }), inputs, outputs };
}

function readJson(text: string, { inputs }: Signature): Json | Refusal {
  try {
    const exact = inputs.some(({ type }) => type === 'INT64' || type === 'UINT64') ? 'exact' : 'plain';
    const value = parsedJson(text, exact);
    return isObject(value) ? value : new Refusal('The request must be a JSON object');
  } catch (error) {
    return new Refusal(`The request is no JSON: ${error instanceof Error ? error.message : 'it cannot be read'}`);
  }
}

/** Every input of the model exactly once, and no other. Binary data lies in the order of the request. */
function readInputs(given: unknown, binary: Buffer, { inputs }: Signature): Tensor[] | Refusal {
  if (!Array.isArray(given)) return new Refusal(`inputs must be a list of tensors: ${listed(inputs)}`);
  const found = new Map<string, Tensor>();
  let rest = binary;
  for (const one of given) {
    const read = readInput(one, rest, inputs);
    if (read instanceof Refusal) return read;
    if (found.has(read.name)) return new Refusal(`input "${read.name}" is given twice`);
    found.set(read.name, read.tensor);
    rest = rest.subarray(read.used);
  }
  if (rest.length > 0) return new Refusal(`${rest.length} bytes follow the last tensor and belong to none`);
  const missing = inputs.filter(({ name }) => !found.has(name));
  if (missing.length > 0) return new Refusal(`An input is missing: ${listed(missing)}`);
  return inputs.map(({ name }) => found.get(name) as Tensor);
}

function readInput(given: unknown, rest: Buffer, ports: readonly Port[]) {
  if (!isObject(given) || typeof given['name'] !== 'string') return new Refusal('Every input must have a name');
  const { name, shape, datatype } = given as { name: string; shape: unknown; datatype: unknown };
  const port = ports.find((one) => one.name === name);
  if (!port) return new Refusal(`The model has no input "${name}": it takes ${listed(ports)}`);
  if (!isShape(shape)) return new Refusal(`input "${name}" must have a shape, a list of whole numbers`);
  if (datatype !== port.type || !fits(shape, port)) {
    const got = described(typeof datatype === 'string' ? datatype : 'no datatype', shape);
    return new Refusal(`input "${name}" should be ${described(port.type, port.shape)}, but is ${got}`);
  }
  const used = parametersOf(given)['binary_data_size'];
  const expected = { name, type: port.type, shape };
  if (used !== undefined) return readBinary(rest, used, expected);
  const tensor = fromList(given['data'], expected);
  return tensor instanceof Refusal ? tensor : { name, tensor, used: 0 };
}

function readBinary(rest: Buffer, used: unknown, expected: Parameters<typeof fromBytes>[1]) {
  const { name } = expected;
  if (typeof used !== 'number' || !Number.isSafeInteger(used) || used < 0)
    return new Refusal(`input "${name}": binary_data_size must be a whole number`);
  if (used > rest.length)
    return new Refusal(`input "${name}" has a binary_data_size of ${used}, but only ${rest.length} bytes are left`);
  const tensor = fromBytes(rest.subarray(0, used), expected);
  return tensor instanceof Refusal ? tensor : { name, tensor, used };
}

/** The outputs that are asked for; all of them when none is named. */
function readOutputs(request: Json, { outputs: ports }: Signature): AskedOutput[] | Refusal {
  const binary = parametersOf(request)['binary_data_output'] === true;
  const asked = request['outputs'];
  if (asked === undefined || (Array.isArray(asked) && asked.length === 0))
    return ports.map((port) => ({ port, binary }));
  if (!Array.isArray(asked)) return new Refusal('outputs must be a list');
  const found: AskedOutput[] = [];
  for (const one of asked as unknown[]) {
    const port = isObject(one) ? ports.find(({ name }) => name === one['name']) : undefined;
    if (!isObject(one) || !port)
      return new Refusal(`The model has no output ${JSON.stringify(one)?.slice(0, 80)}: it gives ${listed(ports)}`);
    if (found.some((other) => other.port === port)) return new Refusal(`output "${port.name}" is asked for twice`);
    const parameters = parametersOf(one);
    if (parameters['classification'] !== undefined)
      return new Refusal(`output "${port.name}": the classification extension is not served here`);
    found.push({ port, binary: typeof parameters['binary_data'] === 'boolean' ? parameters['binary_data'] : binary });
  }
  return found;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parametersOf = (given: Json): Json => (isObject(given['parameters']) ? given['parameters'] : {});

const isShape = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.every((dimension) => Number.isSafeInteger(dimension) && dimension >= 0) &&
  Number.isSafeInteger(sizeOf(value as number[]));
