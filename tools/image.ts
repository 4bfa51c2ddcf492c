// `node tools/image.ts`: builds our image from what is on this machine into build/image, an OCI image layout, and says how
// large it is; with `--push=host/name:tag` it goes into a registry, to which only what is missing there is sent. The
// Dockerfile asks for the same files in a folder, so that both images are one.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { wordsOf } from '../src/base/index.ts';
import { type Credentials, dockerCredentials, referenceOf } from '../src/oci/index.ts';
import { buildImage, type BuiltImage, type Checkout, partsOf } from './image/assemble.ts';
import { placeFiles } from './image/place.ts';
import { megabytes, type Sending, sendImage } from './image/send.ts';

const root = join(import.meta.dirname, '..');
const options = {
  /** Where the image goes, as host/name:tag. */
  push: { type: 'string' },
  /** The registry speaks no TLS. One on this very machine never has to. */
  'plain-http': { type: 'boolean', default: false },
  /** A folder that gets the files of the image, and no image is built: for container tools. */
  files: { type: 'string' },
  /** The folder of the image layout. */
  out: { type: 'string', default: join(root, 'build', 'image') },
} as const;

const say = (line: string) => void process.stderr.write(`${line}\n`);

function tell({ image: { digest }, layers }: BuiltImage): void {
  const line = (name: string, size: number, unpacked: number) =>
    `${name.padEnd(10)} ${megabytes(size).padStart(9)} ${megabytes(unpacked).padStart(10)} unpacked\n`;
  for (const { name, descriptor, unpacked } of layers) process.stdout.write(line(name, descriptor.size, unpacked));
  const sum = (of: (layer: BuiltImage['layers'][number]) => number) =>
    layers.reduce((all, layer) => all + of(layer), 0);
  process.stdout.write(
    line(
      'image',
      sum(({ descriptor }) => descriptor.size),
      sum(({ unpacked }) => unpacked),
    ),
  );
  process.stdout.write(`${digest}\n`);
}

/** Who we are at registries, where somebody has logged in with a container tool. */
function credentials(): Credentials {
  const folder = process.env['DOCKER_CONFIG'] ?? join(homedir(), '.docker');
  let text: string;
  try {
    text = readFileSync(join(folder, 'config.json'), 'utf8');
  } catch {
    return () => undefined;
  }
  return dockerCredentials(text);
}

const onThisMachine = (host: string): boolean => /^(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/.test(host);

/** A registry, and whether it speaks no TLS. */
type Destination = Pick<Sending, 'to' | 'plain'>;

async function image(checkout: Checkout, folder: string, to: Destination | undefined): Promise<void> {
  const built = await buildImage({ ...checkout, folder, say });
  tell(built);
  if (!to) return;
  const plain = to.plain || onThisMachine(to.to.host);
  await sendImage(built, { to: to.to, plain, credentials: credentials(), say });
}

try {
  const { values } = parseArgs({ options });
  const to = values.push === undefined ? undefined : { to: referenceOf(values.push), plain: values['plain-http'] };
  const checkout = { root, machine: { platform: process.platform, arch: process.arch } };
  if (values.files === undefined) await image(checkout, values.out, to);
  else placeFiles(Object.values(await partsOf(checkout)).flat(), values.files);
} catch (error) {
  say(`error: ${wordsOf(error)}`);
  process.exitCode = 1;
}
