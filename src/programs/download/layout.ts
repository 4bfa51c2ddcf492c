// Where files belong so that the server of a framework finds them. Pure: paths in, places out.

/** A file or folder of what was fetched, and its place on the volume. */
export type Placed = [from: string, to: string];

/** The places of all files, or what is wrong with them. `single`: one file that has no name of its own. */
export function layout(
  framework: string,
  files: readonly string[],
  single: boolean,
): { places: Placed[] } | { wrong: string } {
  if (framework === 'onnx') return onnx(files, single);
  if (framework === 'tensorflow') return tensorflow(files);
  return { places: asTheyAre(files) };
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

/** The files of one folder, at another place. */
function below(files: readonly string[], folder: string, to: string): Placed[] {
  const start = folder === '' ? '' : `${folder}/`;
  return files.filter((file) => file.startsWith(start)).map((file) => [file, `${to}${file.slice(start.length)}`]);
}

const some = (names: readonly string[]): string => {
  const rest = names.length - 5;
  return `${names.slice(0, 5).join(', ') || 'nothing'}${rest > 0 ? ` and ${rest} more` : ''}`;
};
