// Our programs as they are shipped: plain JavaScript, one file for each main and some for what they share, so that each
// loads only what it runs. What is native stays a package beside them.

import { existsSync, globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, type Metafile, type OutputFile } from 'esbuild';
import type { Entry } from '../../src/oci/index.ts';
import { copied } from './system.ts';

/** Where the programs are in the image. */
export const home = 'baton';
const mains = ['main', 'operator/main', 'programs/download/main', 'programs/inspect/main', 'programs/serve/main'];
/** Packages with files that only their own code finds. */
const native = ['onnxruntime-node', 'onnxruntime-common'];
/** Code from packages that are written for the older module system asks for modules by this name. */
const banner = `import{createRequire as __load}from'node:module';const require=__load(import.meta.url);`;

/** The programs of a checkout as files. */
export async function bundled(root: string): Promise<{ files: OutputFile[]; metafile: Metafile; folder: string }> {
  const folder = join(root, 'build', 'programs');
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(mains.map((name) => [name, `src/${name}.ts`])),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    external: native,
    preserveSymlinks: true, // paths go into the files: they must not tell where a linked node_modules is
    banner: { js: banner },
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  return { files: outputFiles, metafile, folder };
}

/** The programs in the image, with the terms of the packages in them. */
export async function programEntries(root: string): Promise<Entry[]> {
  const { files, metafile, folder } = await bundled(root);
  const programs = files.map(({ path, contents }): Entry => {
    const content = Buffer.from(contents);
    return { path: join(home, relative(folder, path)), type: 'file', mode: 0o644, content };
  });
  return [...programs, ...licences(root, metafile)];
}

/** Licences of the packages that went into the bundle. */
function licences(root: string, { inputs }: Metafile): Entry[] {
  const names = Object.keys(inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(names)].flatMap((name) => licence(root, name));
}

function licence(root: string, name: string): Entry[] {
  const folder = join(root, 'node_modules', name);
  const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: folder }).toSorted();
  return file === undefined ? [] : [copied(join(folder, file), `usr/share/doc/${name}/copyright`)];
}

/** The runtime of models, for one architecture. */
export function inferenceEntries(root: string, arch: string): Entry[] {
  const from = (name: string, pattern: string): Entry[] => {
    const folder = join(root, 'node_modules', name);
    const found = globSync(pattern, { cwd: folder }).toSorted();
    if (found.length === 0) throw new Error(`the package ${name} has no ${pattern}: run npm ci`);
    return found.map((file) => copied(join(folder, file), join(home, 'node_modules', name, file)));
  };
  return [
    ...from('onnxruntime-node', 'package.json'),
    ...from('onnxruntime-node', 'dist/*.js'),
    ...from('onnxruntime-node', `bin/napi-v6/linux/${arch}/*`),
    ...from('onnxruntime-common', 'package.json'),
    ...from('onnxruntime-common', 'dist/cjs/**/*.{js,json}'),
  ];
}

/** Native files of the runtime of models, whose libraries the image must have. */
export const nativeFiles = (root: string, arch: string): string[] =>
  globSync(`node_modules/onnxruntime-node/bin/napi-v6/linux/${arch}/*`, { cwd: root })
    .map((file) => join(root, file))
    .filter((file) => existsSync(file));
