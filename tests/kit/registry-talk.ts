// A registry client and the peers that it talks to, which do what a test tells them: for the rules of the protocol.

import { type Clock, systemClock } from '../../src/base/index.ts';
import { referenceOf, Registry, type RegistryOptions } from '../../src/oci/index.ts';
import { type Heard, type Reply, ScriptedPeer } from './scripted-peer.ts';

/** No waiting between tries; longer times are deadlines. */
export const hasty: Clock = {
  ...systemClock,
  after: (ms, run) => systemClock.after(ms > 12_000 ? ms : Math.min(ms, 1), run),
};

/** What a test has in hand. */
export interface Talk extends AsyncDisposable {
  registry: Registry;
  peers: ScriptedPeer[];
  name: (repository?: string) => ReturnType<typeof referenceOf>;
}

/** Peers that are known by the time a reply is given, but not when it is written down. */
export type Later = readonly ScriptedPeer[];

/** A client, and a peer for each script; the first is the registry. */
export async function talk(
  scripts: Reply[][] | ((peers: Later) => Reply[][]),
  options: Partial<RegistryOptions> = {},
): Promise<Talk> {
  const peers: ScriptedPeer[] = [];
  for (const script of typeof scripts === 'function' ? scripts(peers) : scripts)
    peers.push(await ScriptedPeer.start(script));
  const hosts = peers.map(({ port }) => `127.0.0.1:${port}`);
  const registry = new Registry({ clock: hasty, random: () => 0, plainHttp: hosts, ...options });
  const name = (repository = 'a/b') => referenceOf(`${hosts[0]}/${repository}:1`);
  const close = async () => {
    await registry.close();
    for (const peer of peers) await peer[Symbol.asyncDispose]();
  };
  return { registry, peers, name, [Symbol.asyncDispose]: close };
}

/** A header as it was sent. */
export const sent = (heard: Heard | undefined, name: string) => heard?.headers.find(([key]) => key === name)?.[1];
/** All bytes as text. */
export const all = async (bytes: AsyncIterable<Buffer>) => {
  const pieces: Buffer[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};
