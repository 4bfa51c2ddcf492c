// The product in a cluster with KMM: its API is installed, its nodes have devices, and the test plays it.

import { Node } from '../../../src/objects/index.ts';
import { type Installed, must, product, type Rig } from '../rig.ts';
import { kmmManifest, moduleCRD } from './crd.ts';
import { type Kmm, offerDevices, playKmm } from './play.ts';

const playing = new WeakMap<Rig, Kmm>();

/** Who plays KMM on a rig. */
export function kmmOf(rig: Rig): Kmm {
  const kmm = playing.get(rig);
  if (!kmm) throw new Error('nobody plays KMM here');
  return kmm;
}

async function prepare(rig: Rig): Promise<() => Promise<void>> {
  await must(rig.plane, ['apply', '-f', '-'], kmmManifest);
  await must(rig.plane, ['wait', '--for=condition=Established', `crd/${moduleCRD.metadata.name}`, '--timeout=30s']);
  const { items } = await rig.admin.list(Node, undefined, {});
  // So many that nobody is in the way of others who ask for as many as the schema lets them.
  const devices = { 'example.com/ptemplate': '1000000' };
  await Promise.all(items.map(({ metadata }) => offerDevices(rig.admin, metadata.name, devices)));
  const kmm = playKmm(rig.admin);
  playing.set(rig, kmm);
  return () => kmm.stop();
}

/** The product's kinds, with KMM. */
export const withKmm: Installed = { ...product, prepare };
