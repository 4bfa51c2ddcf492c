// Writes an image of a few files in the form in which `ctr` imports and `crane` pushes one: enough for the program
// that holds a pod together, and for tests.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { arch } from 'node:os';
import { type Pack, pack } from 'tar-stream';

/** What an image is made of. */
export interface SmallImage {
  /** Like `localhost/pause:1`. */
  name: string;
  entrypoint: string[];
  /** What it says that it is for, in place of this machine's. */
  architecture?: string;
  /** Paths in the image, without a slash at the beginning; the content, or the file of this machine that it is copied from. */
  files: Record<string, { from: string } | { text: string }>;
}

/** Writes the image into one file. */
export async function writeImage(path: string, { name, entrypoint, architecture, files }: SmallImage): Promise<void> {
  const layer = await tarOf(
    Object.entries(files).map(([file, content]) => [
      file,
      'from' in content ? readFileSync(content.from) : Buffer.from(content.text),
    ]),
  );
  const config = Buffer.from(
    JSON.stringify({
      architecture: architecture ?? (arch() === 'x64' ? 'amd64' : arch()),
      os: 'linux',
      config: { Entrypoint: entrypoint, Env: ['PATH=/bin'] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${digest(layer)}`] },
    }),
  );
  const names = { Config: `${digest(config)}.json`, RepoTags: [name], Layers: [`${digest(layer)}.tar`] };
  writeFileSync(
    path,
    await tarOf([
      [names.Config, config],
      [names.Layers[0] ?? '', layer],
      ['manifest.json', Buffer.from(JSON.stringify([names]))],
    ]),
  );
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function tarOf(files: [string, Buffer][]): Promise<Buffer> {
  const archive = pack();
  const whole = collected(archive);
  for (const [name, content] of files) archive.entry({ name, mode: 0o755, mtime: new Date(0) }, content);
  archive.finalize();
  return whole;
}

async function collected(archive: Pack): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of archive) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
