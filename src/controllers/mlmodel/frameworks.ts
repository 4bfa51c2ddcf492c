// What serves which weights. A row is data: the operator's configuration may replace it, and the row that a revision was
// cut with stays in the revision, so that another table in another operator rolls nothing.

/** How a framework's server is run. `{model}` in an argument is the folder of the weights. */
export interface Framework {
  image: string;
  command?: readonly string[];
  args: readonly string[];
  port: number;
  healthPath: string;
  /** Folders that it must be able to write; each becomes an empty one of its own. */
  writable: readonly string[];
}

/** Where the weights are mounted in a server. */
export const modelPath = '/models/model';

/** The rows that come with the operator. The server for onnx is our own program. */
export const frameworks = (image: string): Record<'onnx' | 'tensorflow', Framework> => ({
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
  },
});
