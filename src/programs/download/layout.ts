// Where files belong so that the server of a framework finds them. Pure: paths in, places out.

/** A file or folder of what was fetched, and its place on the volume. */
export type Placed = [from: string, to: string];

/** The places of all files, or what is wrong with them. `single`: one file that has no name of its own. */
export function layout(
  framework: string,
  files: readonly string[],
  single: boolean,
): { places: Placed[] } | { wrong: string } {
  switch (framework) {
    case 'onnx':
      return onnx(files, single);
    case 'tensorflow':
      return tensorflow(files);
    case 'pytorch':
      return repository(files);
    case 'sklearn':
      return oneFile(files, single, { ends: /\.(?:joblib|pkl|pickle)$/, name: 'model.joblib' });
    case 'xgboost':
      return oneFile(files, single, { ends: /\.(?:bst|json|ubj)$/, name: 'model.bst' });
    case 'huggingface':
    case 'vllm':
      return configured(files);
    default:
      return { places: asTheyAre(files) };
  }
}

const asTheyAre = (files: readonly string[]): Placed[] => files.map((file) => [file, file]);

/** Our server takes the only .onnx file in its folder. */
function onnx(files: readonly string[], single: boolean): ReturnType<typeof layout> {
  const [only = ''] = files;
  if (single) return { places: [[only, 'model.onnx']] };
  const models = files.filter((file) => /\.onnx$/i.test(file));
  if (models.length === 1) return { places: asTheyAre(files) };
  if (models.length === 0) return { wrong: `there is no .onnx file among what was fetched: ${some(files)}` };
  return { wrong: `there are ${models.length} .onnx files, and one can be served: ${some(models)}` };
}

const savedModel = /(?:^|\/)saved_model\.(?:pb|pbtxt)$/;

/** TensorFlow Serving takes folders named by a number, with a saved model in each. */
function tensorflow(files: readonly string[]): ReturnType<typeof layout> {
  const models = files.filter((file) => savedModel.test(file)).map((file) => file.replace(savedModel, ''));
  if (models.length === 0) return { wrong: `there is no saved_model.pb among what was fetched: ${some(files)}` };
  const [only = ''] = models;
  const isVersion = (folder: string) => /^\d+$/.test(folder.split('/').at(-1) ?? '');
  const above = new Set(models.map((folder) => folder.split('/').slice(0, -1).join('/')));
  if (models.every(isVersion) && above.size === 1) return { places: below(files, [...above][0] ?? '', '') };
  if (models.length === 1) return { places: below(files, only, '1/') };
  return {
    wrong: `there are ${models.length} saved models, and not each in a folder named by its version: ${some(models)}`,
  };
}

const modelConfig = /(?:^|\/)config\.pbtxt$/;

/** Triton takes a folder of models, and whatever folder is in it for one: so it gets a folder with nothing else. */
function repository(files: readonly string[]): ReturnType<typeof layout> {
  const models = files.filter((file) => modelConfig.test(file)).map((file) => file.replace(modelConfig, ''));
  if (models.length === 0) return { wrong: `there is no config.pbtxt among what was fetched: ${some(files)}` };
  if (models.includes('')) return { places: below(files, '', 'repository/model/') };
  const above = new Set(models.map((folder) => folder.split('/').slice(0, -1).join('/')));
  if (above.size > 1) return { wrong: `there are models in several folders, and one can be served: ${some(models)}` };
  const name = (folder: string) => folder.split('/').at(-1);
  return { places: models.flatMap((folder) => below(files, folder, `repository/${name(folder)}/`)) };
}

/** Servers that take the only file of their kind, at the top; what lies beside it comes along. */
function oneFile(
  files: readonly string[],
  single: boolean,
  { ends, name }: { ends: RegExp; name: string },
): ReturnType<typeof layout> {
  const [only = ''] = files;
  if (single) return { places: [[only, ends.test(only) ? only : name]] };
  const models = files.filter((file) => ends.test(file));
  const [model = ''] = models;
  if (models.length === 1) return { places: below(files, folderOf(model), '') };
  if (models.length === 0) return { wrong: `there is no file like ${name} among what was fetched: ${some(files)}` };
  return { wrong: `there are ${models.length} files like ${name}, and one can be served: ${some(models)}` };
}

const folderOf = (file: string): string => file.split('/').slice(0, -1).join('/');

/** A folder of the transformers library: the one with the outermost configuration. */
function configured(files: readonly string[]): ReturnType<typeof layout> {
  const found = files.filter((file) => /(?:^|\/)(?:config|params)\.json$/.test(file)).map(folderOf);
  const depth = (folder: string) => (folder === '' ? 0 : folder.split('/').length);
  const least = Math.min(...found.map(depth));
  const outermost = [...new Set(found.filter((folder) => depth(folder) === least))];
  const [folder = ''] = outermost;
  if (outermost.length === 1) return { places: below(files, folder, '') };
  if (outermost.length === 0) return { wrong: `there is no config.json among what was fetched: ${some(files)}` };
  return { wrong: `there are ${outermost.length} models, and one can be served: ${some(outermost)}` };
}

/** The files of one folder, at another place. */
function below(files: readonly string[], folder: string, to: string): Placed[] {
  const start = folder === '' ? '' : `${folder}/`;
  return files.filter((file) => file.startsWith(start)).map((file) => [file, `${to}${file.slice(start.length)}`]);
}

const some = (names: readonly string[]): string => {
  const rest = names.length - 5;
  return `${names.slice(0, 5).join(', ') || 'nothing'}${rest > 0 ? ` and ${rest} more` : ''}`;
};
