// What the operator asks a registry before it decides what runs. The client is handed in, and goes past the same list of
// forbidden addresses as a download.

import type { Verdict } from '../api/index.ts';

/** A registry said no. What may pass by itself is no answer: the client throws it. */
export type Refused = { refused: Verdict; message: string };

/** An image as weights. `mountable`: nodes mount it with its files in it. `bytes`: the room that a copy takes. */
export type Image = { digest: string; mountable: boolean; bytes: number };

/** What a registry answered about weights, and about the name of an image that nodes run. */
export type Looked = Image | Refused;
export type Resolved = { digest: string } | Refused;

/** A registry, as far as a controller needs one. */
export interface Registry {
  /** Looks at an image with weights in it, `host/repository:tag` or by digest. */
  lookAt(image: string, signal: AbortSignal): Promise<Looked>;
  /** Asks only what a name means now: whether an image can be run is for nodes to say. */
  digestOf(image: string, signal: AbortSignal): Promise<Resolved>;
}

/** What the facts of a served parent are asked of, beside the API server. */
export interface RegistryClients {
  registry: Registry;
}
