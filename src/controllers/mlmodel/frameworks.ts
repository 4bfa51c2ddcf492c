// What serves which weights. A row is data: the operator's configuration may replace it, and the row that a revision was
// cut with stays in the revision, so that another table in another operator rolls nothing. Where every figure comes from
// stands in docs/spec/frameworks.md.

/** How a framework's server is run. `{model}` in an argument is the folder of the weights. */
export interface Framework {
  image: string;
  command?: readonly string[];
  args: readonly string[];
  port: number;
  healthPath: string;
  /** Folders that it must be able to write; each becomes an empty one of its own. */
  writable: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The only architecture for which the image is built; its servers run on no other nodes. */
  arch?: string;
}

/** Where the weights are mounted in a server. */
export const modelPath = '/models/model';

const kserve = 'v0.20.0';

/** A user without an entry in /etc/passwd has no home and no name, which Python's libraries ask for. */
const somebody = { HOME: '/tmp', USER: 'server' };

/** All that a model of the transformers library needs is there: nothing is asked of its hub. */
const offline = { ...somebody, HF_HUB_OFFLINE: '1' };

/** Servers of the KServe project begin to listen without a model if they find none, so the model itself is asked for. */
const python = (name: string, ...args: string[]): Framework => ({
  image: `kserve/${name}:${kserve}`,
  args: ['--model_name=model', '--model_dir={model}', '--http_port=8080', ...args],
  port: 8080,
  healthPath: '/v2/models/model/ready',
  writable: ['/tmp'],
  env: somebody,
});

/** The rows that come with the operator. The server for onnx is our own program. */
export const frameworks = (image: string): Record<Served, Framework> => ({
  onnx: {
    image,
    args: ['serve', '--port=8080', '--model={model}'],
    port: 8080,
    healthPath: '/v2/health/ready',
    writable: ['/tmp'],
  },
  tensorflow: {
    image: 'tensorflow/serving:2.19.1',
    args: ['--rest_api_port=8501', '--port=8500', '--model_name=model', '--model_base_path={model}'],
    port: 8501,
    healthPath: '/v1/models/model',
    writable: ['/tmp'],
    arch: 'amd64',
  },
  pytorch: {
    image: 'nvcr.io/nvidia/tritonserver:26.07-py3',
    args: ['tritonserver', '--model-repository={model}/repository', '--http-port=8000'],
    port: 8000,
    healthPath: '/v2/health/ready',
    writable: ['/tmp', '/dev/shm'],
    env: somebody,
  },
  sklearn: python('sklearnserver'),
  xgboost: python('xgbserver'),
  huggingface: { ...python('huggingfaceserver', '--backend=huggingface'), env: offline, arch: 'amd64' },
  vllm: {
    image: 'vllm/vllm-openai:v0.27.1',
    args: ['{model}', '--served-model-name=model', '--port=8000'],
    port: 8000,
    healthPath: '/health',
    writable: ['/tmp', '/dev/shm'],
    env: { ...offline, VLLM_NO_USAGE_STATS: '1' },
  },
});

type Served = 'onnx' | 'tensorflow' | 'pytorch' | 'sklearn' | 'xgboost' | 'huggingface' | 'vllm';
