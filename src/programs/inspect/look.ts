// A look at an image, and what comes of it in the words of the contract: found, refused for good, or a fault that may
// pass. The operator looks in the same way as the program that runs in a pod; only what they know differs.

import { registryVerdicts, type Verdict } from '../../api/index.ts';
import { EgressDenied } from '../../base/index.ts';
import {
  inspect,
  type Inspected,
  type InspectedImage,
  readReference,
  type Reference,
  type Registry,
  RegistryError,
  resolve,
} from '../../oci/index.ts';

/** What a registry answered. */
type Refused = { refused: Verdict; message: string };
export type Looked = { digest: string; mountable: boolean; bytes: number } | Refused;
export type Resolved = { digest: string } | Refused;

/** Looks at the weights in `[oci://]host/repository[:tag][@digest]`. What may pass is thrown. */
export const lookAt = (registry: Registry, image: string, signal?: AbortSignal): Promise<Looked> =>
  refusable(image, async (reference) => found(await inspect(registry, reference, signal ? { signal } : {})));

/** What such a name means now, in one request: images for other platforms may be missing, or more than anybody would read. */
export const digestAt = (registry: Registry, image: string, signal?: AbortSignal): Promise<Resolved> =>
  refusable(image, async (reference) => {
    const { digest } = await resolve(registry, reference, signal ? { signal } : {});
    return { digest };
  });

async function refusable<T>(image: string, ask: (reference: Reference) => Promise<T>): Promise<T | Refused> {
  const read = readReference(image);
  if ('wrong' in read) return { refused: 'SourceNotFound', message: read.wrong };
  try {
    return await ask(read.reference);
  } catch (error) {
    const refused = verdictOf(error);
    if (refused === undefined) throw error;
    return { refused, message: (error as Error).message };
  }
}

function verdictOf(error: unknown): Verdict | undefined {
  if (error instanceof EgressDenied) return 'EgressDenied';
  return error instanceof RegistryError ? registryVerdicts[error.reason] : undefined;
}

function found({ digest, mounting, images }: Inspected): Looked {
  if (images.every(({ layers }) => layers.length === 0))
    return { refused: 'EmptySource', message: `the image ${digest} has no layers` };
  return { digest, mountable: mounting.way === 'mount', bytes: Math.max(...images.map(room)) };
}

/** The room that a copy takes. An archive lies beside what is unpacked from it; compressed weights seldom double. */
const room = ({ layers }: InspectedImage): number =>
  layers.reduce((sum, { mediaType, size }) => sum + copies(mediaType) * size, 0);

function copies(mediaType: string): number {
  if (/[+.](gzip|zstd)$/.test(mediaType)) return 3;
  return mediaType.endsWith('.tar') ? 2 : 1;
}
