import { deepEqual, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { layout } from './layout.ts';
import { needed } from './sources/needed.ts';

describe('places', () => {
  const rows: [string, string, string[], boolean, Record<string, string> | RegExp][] = [
    ['one file for onnx is the model, whatever its name', 'onnx', ['download'], true, { download: 'model.onnx' }],
    [
      'one model in a folder stays there',
      'onnx',
      ['a/iris.onnx', 'a/labels'],
      false,
      { 'a/iris.onnx': 'a/iris.onnx', 'a/labels': 'a/labels' },
    ],
    ['no model at all', 'onnx', ['x.txt'], false, /no \.onnx file.*x\.txt/],
    ['two models', 'onnx', ['a.onnx', 'b.onnx'], false, /2 \.onnx files, and one can be served: a\.onnx, b\.onnx/],
    [
      'a saved model gets a version',
      'tensorflow',
      ['saved_model.pb', 'variables/v'],
      false,
      { 'saved_model.pb': '1/saved_model.pb', 'variables/v': '1/variables/v' },
    ],
    [
      'a saved model in a folder loses that',
      'tensorflow',
      ['m/saved_model.pb', 'm/variables/v', 'README'],
      false,
      { 'm/saved_model.pb': '1/saved_model.pb', 'm/variables/v': '1/variables/v' },
    ],
    [
      'versions stay',
      'tensorflow',
      ['1/saved_model.pb', '12/saved_model.pb'],
      false,
      { '1/saved_model.pb': '1/saved_model.pb', '12/saved_model.pb': '12/saved_model.pb' },
    ],
    [
      'versions in a folder lose that',
      'tensorflow',
      ['m/3/saved_model.pb', 'm/3/assets/a'],
      false,
      { 'm/3/saved_model.pb': '3/saved_model.pb', 'm/3/assets/a': '3/assets/a' },
    ],
    ['a lone graph is a saved model', 'tensorflow', ['saved_model.pb'], true, { 'saved_model.pb': '1/saved_model.pb' }],
    ['no saved model', 'tensorflow', ['model.h5'], true, /no saved_model\.pb.*model\.h5/],
    [
      'two saved models without versions',
      'tensorflow',
      ['a/saved_model.pb', 'b/saved_model.pb'],
      false,
      /2 saved models/,
    ],
    [
      'a model for Triton is one of a repository',
      'pytorch',
      ['config.pbtxt', '1/model.pt'],
      false,
      { 'config.pbtxt': 'repository/model/config.pbtxt', '1/model.pt': 'repository/model/1/model.pt' },
    ],
    [
      'models for Triton keep their names and lose what is around them',
      'pytorch',
      ['x/a/config.pbtxt', 'x/a/1/model.pt', 'x/b/config.pbtxt', 'x/docs/a.txt', 'README'],
      false,
      {
        'x/a/config.pbtxt': 'repository/a/config.pbtxt',
        'x/a/1/model.pt': 'repository/a/1/model.pt',
        'x/b/config.pbtxt': 'repository/b/config.pbtxt',
      },
    ],
    ['no configuration for Triton', 'pytorch', ['model.pt'], true, /no config\.pbtxt.*model\.pt/],
    ['models in several places', 'pytorch', ['a/b/config.pbtxt', 'c/config.pbtxt'], false, /several folders/],
    ['one file for joblib keeps its name', 'sklearn', ['iris.pkl'], true, { 'iris.pkl': 'iris.pkl' }],
    ['one file without a name for joblib gets one', 'sklearn', ['download'], true, { download: 'model.joblib' }],
    [
      'one file among others comes to the top, with them',
      'sklearn',
      ['m/iris.joblib', 'm/notes.txt', 'other'],
      false,
      { 'm/iris.joblib': 'iris.joblib', 'm/notes.txt': 'notes.txt' },
    ],
    ['two files for joblib', 'sklearn', ['a.pkl', 'b.joblib'], false, /2 files like model\.joblib.*a\.pkl, b\.joblib/],
    ['no file for joblib', 'sklearn', ['a.onnx', 'b'], false, /no file like model\.joblib.*a\.onnx/],
    ['a booster', 'xgboost', ['booster.ubj'], true, { 'booster.ubj': 'booster.ubj' }],
    ['a booster without a name', 'xgboost', ['download'], true, { download: 'model.bst' }],
    ['a file of another library', 'xgboost', ['a.joblib', 'b'], false, /no file like model\.bst/],
    [
      'a folder of transformers loses what is around it',
      'vllm',
      ['llama/config.json', 'llama/model.safetensors', 'llama/1_Pooling/config.json', 'README'],
      false,
      {
        'llama/config.json': 'config.json',
        'llama/model.safetensors': 'model.safetensors',
        'llama/1_Pooling/config.json': '1_Pooling/config.json',
      },
    ],
    ['two folders of transformers', 'huggingface', ['a/config.json', 'b/config.json'], false, /2 models.*a, b/],
    ['no configuration for transformers', 'huggingface', ['model.safetensors'], true, /no config\.json/],
    ['others stay as they are', 'custom', ['a', 'b/c'], false, { a: 'a', 'b/c': 'b/c' }],
  ];
  for (const [name, framework, files, single, expected] of rows)
    test(name, () => {
      const laid = layout(framework, files, single);
      if (expected instanceof RegExp) {
        ok('wrong' in laid);
        match(laid.wrong, expected);
      } else deepEqual('places' in laid && Object.fromEntries(laid.places), expected);
    });
});

describe('needed files', () => {
  const rows: [string, string, string[], string[] | RegExp][] = [
    [
      'one model and its data',
      'onnx',
      ['README.md', 'm.onnx', 'm.onnx_data', 'm.onnx.data', 'x.bin'],
      ['m.onnx', 'm.onnx_data', 'm.onnx.data'],
    ],
    [
      'the plain one of many',
      'onnx',
      ['onnx/model.onnx', 'onnx/model_fp16.onnx', 'onnx/model_quantized.onnx'],
      ['onnx/model.onnx'],
    ],
    [
      'many without a plain one',
      'onnx',
      ['a.onnx', 'b.onnx'],
      /2 \.onnx files and none is called model\.onnx: a\.onnx, b\.onnx/,
    ],
    [
      'a saved model',
      'tensorflow',
      ['saved_model.pb', 'variables/variables.index', 'tf_model.h5', 'assets/v.txt', 'README.md'],
      ['saved_model.pb', 'variables/variables.index', 'assets/v.txt'],
    ],
    [
      'safetensors before others',
      'huggingface',
      [
        'config.json',
        'model-1.safetensors',
        'pytorch_model.bin',
        'tf_model.h5',
        'tokenizer.json',
        'onnx/model.onnx',
        'original/x.pth',
        'README.md',
        '.gitattributes',
      ],
      ['config.json', 'model-1.safetensors', 'tokenizer.json'],
    ],
    [
      'PyTorch without safetensors',
      'vllm',
      ['config.json', 'pytorch_model.bin', 'flax_model.msgpack'],
      ['config.json', 'pytorch_model.bin'],
    ],
    ['no weights', 'vllm', ['config.json'], /neither safetensors nor PyTorch/],
    ['everything', 'custom', ['a', '.gitattributes'], ['a', '.gitattributes']],
  ];
  for (const [name, framework, files, expected] of rows)
    test(name, () => {
      const choice = needed(framework, files);
      if (expected instanceof RegExp) {
        ok('wrong' in choice);
        match(choice.wrong, expected);
      } else deepEqual(choice, { files: expected });
    });
});
