// What the operator asks a registry before it decides what runs. The client is handed in, and goes past the same list of
// forbidden addresses as a download.

import type { Verdict } from '../api/index.ts';

/** What a registry answered. What may pass by itself is no answer: the client throws it. */
export type Looked =
  /** `mountable`: an image that nodes mount with its files in it. `bytes`: the room that a copy takes. */
  { digest: string; mountable: boolean; bytes: number } | { refused: Verdict; message: string };

/** A registry, as far as a controller needs one. */
export interface Registry {
  /** Looks at an image, `host/repository:tag` or by digest. */
  lookAt(image: string, signal: AbortSignal): Promise<Looked>;
}

/** What the facts of a served parent are asked of, beside the API server. */
export interface RegistryClients {
  registry: Registry;
}
