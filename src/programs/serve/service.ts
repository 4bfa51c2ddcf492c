// From a request to its answer: the inference protocol on top of the queue. Everything that a client can do wrong ends in an
// answer that says what; everything that goes wrong here is logged and said too.

import { type Log, metricsType, wordsOf } from '../../base/index.ts';
import type { Queue } from './engine/queue.ts';
import { type Answer, failure, json } from './http/answer.ts';
import type { Exchange } from './http/connection.ts';
import { busyWords } from './http/reader.ts';
import type { ServeMetrics } from './metrics.ts';
import { Refusal } from './protocol/refusal.ts';
import { type Inference, readInference } from './protocol/request.ts';
import { inferenceAnswer, type Named } from './protocol/response.ts';
import { type Endpoint, router } from './protocol/routes.ts';
import { metadataOf, type Signature } from './protocol/signature.ts';
import { isPlain, unpacked } from './protocol/unpack.ts';

export interface ServiceOptions {
  model: Named;
  signature: Signature;
  queue: Queue;
  metrics: ServeMetrics;
  bodyLimit: number;
  draining: () => boolean;
  now: () => number;
  log: Log;
}

/** Handles exchanges until the process ends. */
export function serviceOf(options: ServiceOptions): (exchange: Exchange) => void {
  const { model, metrics } = options;
  const route = router(model);
  const pages = pagesOf(options);
  return (exchange) => {
    const { request, answer } = exchange;
    const endpoint = route(request.method, request.target);
    if (endpoint === 'infer') return void infer(exchange, options);
    const page = endpoint instanceof Refusal ? refused(endpoint) : pages[endpoint]();
    metrics.answered(endpoint instanceof Refusal ? 'none' : endpoint, page.status);
    answer(page);
  };
}

function pagesOf({
  model,
  signature,
  metrics,
  draining,
}: ServiceOptions): Record<Exclude<Endpoint, 'infer'>, () => Answer> {
  const readiness = (more: object) => {
    const ready = !draining();
    return json(ready ? 200 : 503, { ...more, ready, ...(!ready && { error: 'The server is about to end' }) });
  };
  const { name, version } = model;
  return {
    live: () => json(200, { live: true }),
    ready: () => readiness({}),
    server: () => json(200, { name: 'baton', version, extensions: ['binary_tensor_data'] }),
    model: () => json(200, { name, versions: [version], platform: 'onnxruntime_onnx', ...metadataOf(signature) }),
    'model ready': () => readiness({ name }),
    metrics: () => ({ status: 200, type: metricsType, body: metrics.text() }),
  };
}

async function infer(exchange: Exchange, options: ServiceOptions): Promise<void> {
  const { metrics, now, log } = options;
  const began = now();
  metrics.began();
  let said: Answer;
  try {
    said = await inferred(exchange, options);
  } catch (error) {
    log.error('a request could not be answered', { error });
    said = failure(500, `The server failed: ${wordsOf(error)}`);
  }
  metrics.inferred(said.status, now() - began);
  exchange.answer(said);
}

async function inferred({ request, reserve, gone }: Exchange, options: ServiceOptions): Promise<Answer> {
  const { signature, queue, model } = options;
  const { body, encoding } = request;
  const bytes = isPlain(encoding) ? body : await unpacked(body, encoding, { limit: options.bodyLimit, reserve });
  if (bytes instanceof Refusal) return refused(bytes);
  if (bytes === 'no room') return failure(503, busyWords);
  if (request.type.startsWith('multipart/')) return failure(415, 'The body must be JSON, perhaps with binary tensors');
  const asked = readInference({ bytes, header: request.inferenceHeader }, signature);
  if (asked instanceof Refusal) return refused(asked);
  const outputs = asked.outputs.map(({ port }) => port.name);
  const results = queue.submit({ inputs: asked.inputs, outputs, gone });
  if (results === 'full') return failure(503, 'Too many requests wait for the model: try again in a moment');
  return results.then(
    (tensors) => inferenceAnswer(asked satisfies Inference, tensors, model),
    (error: unknown) => notRun(error),
  );
}

const refused = ({ status, words }: Refusal): Answer => failure(status, words);

/** onnxruntime does not say whose fault it was; but for memory it is nearly always the inputs. */
function notRun(error: unknown): Answer {
  const words = wordsOf(error);
  const status = /alloc|out of memory/i.test(words) ? 500 : 400;
  return failure(status, `The model does not run on these inputs: ${words}`);
}
