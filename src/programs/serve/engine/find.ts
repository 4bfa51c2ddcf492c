// The model's file: exactly one `*.onnx` under the folder, at any depth within reason. External data may lie beside it, under
// any other name. A mount that turned out empty is found here, and nothing ever serves on it.

import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ModelFailure } from './failure.ts';

const mostEntries = 10_000;
const mostDepth = 8;

/** The path of the model file: the one that is named, or the only one under the folder that is named. */
export function findModel(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new ModelFailure(`${path} does not exist: nothing is mounted there`);
  if (found.isFile()) return whole(path);
  const files = filesUnder(path);
  const models = files.filter((file) => file.toLowerCase().endsWith('.onnx'));
  const [only, ...others] = models.toSorted();
  if (only === undefined) throw new ModelFailure(`${path} holds no *.onnx file${holding(path, files)}`);
  if (others.length > 0)
    throw new ModelFailure(
      `${path} holds ${models.length} *.onnx files, and it must be one (${shown(path, models)}): name the one to serve by --model`,
    );
  return whole(only);
}

function whole(file: string): string {
  if (statSync(file).size === 0) throw new ModelFailure(`${file} is empty: its download or copy did not finish`);
  return file;
}

const holding = (path: string, files: readonly string[]): string =>
  files.length === 0 ? ': it is empty' : `, only ${shown(path, files)}`;

const shown = (path: string, files: readonly string[]): string =>
  files
    .toSorted()
    .slice(0, 5)
    .map((file) => relative(path, file))
    .join(', ') + (files.length > 5 ? ', …' : '');

/** Links are followed, so the depth is bounded. */
function filesUnder(folder: string): string[] {
  const files: string[] = [];
  let folders = [folder];
  let entries = 0;
  for (let depth = 0; depth < mostDepth && folders.length > 0; depth++) {
    const below: string[] = [];
    for (const path of folders.flatMap((one) => readdirSync(one).map((name) => join(one, name)))) {
      if (++entries > mostEntries)
        throw new ModelFailure(`${folder} holds more than ${mostEntries} entries: name the file by --model`);
      const found = statSync(path, { throwIfNoEntry: false });
      if (found?.isDirectory()) below.push(path);
      else if (found?.isFile()) files.push(path);
    }
    folders = below;
  }
  return files;
}
