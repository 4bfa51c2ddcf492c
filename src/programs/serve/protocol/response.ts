// The answer to an inference: JSON, followed by the bytes of those tensors that were asked for as bytes. The JSON is written by
// hand, which costs a third of building an object first.

import { type Answer } from '../http/answer.ts';
import { toBytes } from './binary.ts';
import type { Inference } from './request.ts';
import { writtenNumbers } from './text.ts';
import { fromHalves, type Tensor } from './types.ts';

/** The model as answers name it. */
export interface Named {
  name: string;
  version: string;
}

/** The answer with these outputs, which are in the order in which they were asked for. */
export function inferenceAnswer({ id, outputs }: Inference, results: readonly Tensor[], model: Named): Answer {
  const tensors: Uint8Array[] = [];
  let text = `{${id === undefined ? '' : `"id":${JSON.stringify(id)},`}"model_name":${JSON.stringify(model.name)},"model_version":${JSON.stringify(model.version)},"outputs":[`;
  for (const [index, { port, binary }] of outputs.entries()) {
    const tensor = results[index] as Tensor;
    text += `${index === 0 ? '' : ','}{"name":${JSON.stringify(port.name)},"datatype":"${tensor.type}","shape":[${tensor.shape.join(',')}],`;
    if (!binary) text += `"data":${written(tensor)}}`;
    else text += `"parameters":{"binary_data_size":${tensors[tensors.push(toBytes(tensor)) - 1]?.byteLength}}}`;
  }
  text += ']}';
  if (tensors.length === 0) return { status: 200, type: 'application/json', body: text };
  const headers = { 'Inference-Header-Content-Length': String(Buffer.byteLength(text)) };
  return { status: 200, type: 'application/octet-stream', headers, body: [text, ...tensors] };
}

function written(tensor: Tensor): string {
  if (tensor.type === 'BYTES') return JSON.stringify(tensor.data);
  if (tensor.type === 'BOOL') return JSON.stringify(Array.from(tensor.data as Uint8Array, Boolean));
  if (tensor.type === 'FP16') return writtenNumbers(fromHalves(tensor.data as Uint16Array));
  return writtenNumbers(tensor.data);
}
