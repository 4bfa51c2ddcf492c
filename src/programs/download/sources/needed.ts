// Which files of a model repository a framework needs: such repositories hold the same weights in many formats, and all of
// them would be several times the size. Pure.

/** A choice, or why there is none. */
export type Choice = { files: string[] } | { wrong: string };

const other =
  /(?:^|\/)(?:\.git[^/]*|\.huggingface\/.*|README[^/]*|LICENSE[^/]*)$|\.(?:md|png|jpe?g|gif|svg|webp|mp4|pdf)$/i;
const weights = /\.(?:safetensors|bin|pt|pth|ckpt|h5|msgpack|onnx|onnx_data|tflite|mlmodel|gguf|ot|pb)$/i;

/** The files for a framework. */
export function needed(framework: string, files: readonly string[]): Choice {
  switch (framework) {
    case 'onnx':
      return onnx(files);
    case 'tensorflow':
      return some(
        files.filter((file) =>
          /(?:^|\/)(?:saved_model\.pb(?:txt)?|fingerprint\.pb|(?:variables|assets)(?:\.extra)?\/.+)$/.test(file),
        ),
        'a saved_model.pb',
      );
    case 'huggingface':
    case 'vllm':
      return transformers(files);
    default:
      return some([...files], 'any file');
  }
}

const some = (files: string[], what: string): Choice =>
  files.length > 0 ? { files } : { wrong: `the repository does not hold ${what}` };

/** One model, and the weights that it keeps in files beside it. */
function onnx(files: readonly string[]): Choice {
  const models = files.filter((file) => /\.onnx$/i.test(file));
  const model =
    models.length === 1 ? models[0] : ['model.onnx', 'onnx/model.onnx'].find((name) => models.includes(name));
  if (model === undefined)
    return {
      wrong:
        models.length === 0
          ? 'the repository does not hold an .onnx file'
          : `the repository holds ${models.length} .onnx files and none is called model.onnx: ${models.slice(0, 5).join(', ')}`,
    };
  return {
    files: files.filter((file) => file === model || file.startsWith(`${model}_`) || file.startsWith(`${model}.`)),
  };
}

/** Everything but weights in other formats: safetensors where there are any, else PyTorch's own. */
function transformers(files: readonly string[]): Choice {
  const top = files.filter((file) => !/^(?:onnx|openvino|original|coreml|flax|tf)\//i.test(file) && !other.test(file));
  const format = [/\.safetensors$/i, /\.bin$/i, /\.(?:pt|pth)$/i].find((form) => top.some((file) => form.test(file)));
  if (!format) return { wrong: 'the repository holds neither safetensors nor PyTorch weights' };
  return { files: top.filter((file) => format.test(file) || !weights.test(file)) };
}
