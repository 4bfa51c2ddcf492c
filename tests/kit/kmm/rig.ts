// A rig with simulated nodes that have devices, and a KMM that is installed and played.

import { product, type Installed, must, type Rig, startRig } from '../rig.ts';
import { moduleCRD } from './crd.ts';
import { type Kmm, offerDevices, playKmm } from './play.ts';

export interface DeviceRig {
  rig: Rig;
  kmm: Kmm;
  stop(): Promise<void>;
}

/** Starts everything but the operator. */
export async function startDeviceRig(count: number, installed: Installed = product): Promise<DeviceRig> {
  const rig = await startRig({ nodes: count }, installed);
  await must(rig.plane, ['apply', '-f', '-'], JSON.stringify(moduleCRD));
  await must(rig.plane, ['wait', '--for=condition=Established', `crd/${moduleCRD.metadata.name}`, '--timeout=30s']);
  for (let node = 1; node <= count; node++)
    await offerDevices(rig.admin, `node-${node}`, { 'example.com/ptemplate': '5000' });
  const kmm = playKmm(rig.admin);
  return {
    rig,
    kmm,
    async stop() {
      await kmm.stop();
      await rig.stop();
    },
  };
}
