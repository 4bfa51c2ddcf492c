// A look at an image, and what comes of it in the words of the contract: found, refused for good, or a fault that may
// pass. The operator looks in the same way as the program that runs in a pod; only what they know differs.

import { registryVerdicts, type Verdict } from '../../api/index.ts';
import { EgressDenied } from '../../base/index.ts';
import {
  inspect,
  type Inspected,
  type InspectedImage,
  readReference,
  type Registry,
  RegistryError,
} from '../../oci/index.ts';

/** What a registry answered. */
export type Looked = { digest: string; mountable: boolean; bytes: number } | { refused: Verdict; message: string };

/** Looks at `[oci://]host/repository[:tag][@digest]`. What may pass is thrown. */
export async function lookAt(registry: Registry, image: string, signal?: AbortSignal): Promise<Looked> {
  const read = readReference(image);
  if ('wrong' in read) return { refused: 'SourceNotFound', message: read.wrong };
  try {
    return found(await inspect(registry, read.reference, signal ? { signal } : {}));
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
