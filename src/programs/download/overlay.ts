// Layers over each other, as images mean it: a layer takes away, then it adds and replaces, and where one has a file and
// another a folder the later one wins. Pure, and in one pass over what is there: a layer may hold 100,000 files.

/** Files of the model by their path, to where they are in our own folder. */
export type Files = Map<string, string>;

/** Marks in layers of images: a file of this name takes another away, or all that lower layers put into a folder. */
const gone = '.wh.';
const allGone = '.wh..wh..opq';

/** Lays a layer of an image over what is there. */
export function layOver(files: Files, layer: ReadonlyMap<string, string>): void {
  const marks = [...layer.keys()].map(parted).filter(([, name]) => name.startsWith(gone));
  const emptied = new Set(marks.filter(([, name]) => name === allGone).map(([folder]) => folder));
  const taken = new Set(marks.map(([folder, name]) => joined(folder, name.slice(gone.length))));
  for (const path of files.keys())
    if (taken.has(path) || above(path).some((folder) => taken.has(folder) || emptied.has(folder))) files.delete(path);
  putOver(files, new Map([...layer].filter(([path]) => !parted(path)[1].startsWith(gone))));
}

/** Puts files over what is there, under names that mean nothing else. */
export function putOver(files: Files, added: ReadonlyMap<string, string>): void {
  const folders = new Set([...added.keys()].flatMap(above));
  for (const path of files.keys())
    if (folders.has(path) || above(path).some((folder) => added.has(folder))) files.delete(path);
  for (const [path, from] of added) files.set(path, from);
}

/** The folder of a path, empty for the top, and the name in it. */
function parted(path: string): [folder: string, name: string] {
  const slash = path.lastIndexOf('/');
  return [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
}

const joined = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

/** All folders above a path, with the top. */
function above(path: string): string[] {
  const [folder] = parted(path);
  return folder === '' ? [''] : [folder, ...above(folder)];
}
