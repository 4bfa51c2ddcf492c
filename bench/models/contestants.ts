// Who makes models Ready: Baton with weights on claims and with weights as images, the Go operator with and without waiting
// for its claims, and the chain, which is the floor for any operator. A peer's Service is what its `expose` asks for.

import { MLModel } from '../../src/api/index.ts';
import { type KubeObject, kindOf } from '../../src/objects/index.ts';
import type { homes } from './audit.ts';
import type { Asking } from './load.ts';
import type { Command } from './program.ts';

/** The names, in the order of the table. */
export const names = ['Baton', 'Baton, images', 'Go', 'Go, waiting', 'chain', 'chain, waiting'] as const;
export type Name = (typeof names)[number];

export interface Contestant {
  name: Name;
  side: keyof typeof homes;
  asking: Asking;
  command: (kubeconfig: string) => Command;
  /** It is there for comparison, and one round is enough. */
  once?: true;
}

/** Where the programs are; without those of others only our side runs. */
export interface Programs {
  /** Our operator as it is in the image. */
  baton: string;
  /** The same with leave to ask a registry on this machine. */
  images: string;
  operator?: string | undefined;
  chain?: string | undefined;
  /** An image of weights, as host/repository@digest. */
  weights: string;
}

const PeerModel = kindOf<KubeObject>('peer.dev/v1', 'MLModel', 'mlmodels');

const ours = { framework: 'onnx', replicas: 1, expose: false };

/** A simulated download of ours takes as long as any other Job there. */
const asLongAsOthers = { 'sim.baton.dev/container': 'download', 'sim.baton.dev/run-for': '500ms' };

const urlOf = (name: string): string => `https://models.example/${name}.onnx`;

const onClaims: Asking = {
  kind: MLModel,
  spec: (name) => ({ ...ours, modelURL: urlOf(name), storageSize: '1Gi', podAnnotations: asLongAsOthers }),
};

const asPeers: Asking = {
  kind: PeerModel,
  spec: (name) => ({ modelURL: urlOf(name), storageSize: '1Gi', framework: 'onnx', replicas: 1, expose: true }),
};

/** How the Deployment of the operator starts Node. */
const node = ['--max-semi-space-size=4'];

/** All of them. */
export function contestants({ baton, images, operator, chain, weights }: Programs): Contestant[] {
  const peer = (name: Name, program: string | undefined, ...args: string[]): Contestant[] =>
    program === undefined
      ? []
      : [
          {
            name,
            side: 'peer',
            asking: asPeers,
            command: (kubeconfig) => ({ program, args: ['-kubeconfig', kubeconfig, ...args] }),
          },
        ];
  return [
    {
      name: 'Baton',
      side: 'baton',
      asking: onClaims,
      command: (kubeconfig) => ({
        program: process.execPath,
        args: [...node, baton, 'operator', `--kubeconfig=${kubeconfig}`, '--health-address=127.0.0.1:0'],
      }),
    },
    ...peer('Go', operator),
    ...peer('chain', chain),
    {
      name: 'Baton, images',
      side: 'baton',
      asking: { kind: MLModel, spec: () => ({ ...ours, modelURL: `oci://${weights}` }) },
      command: (kubeconfig) => ({ program: process.execPath, args: [...node, images, kubeconfig, weights] }),
    },
    ...peer('Go, waiting', operator, '-wait-pvc').map((one) => ({ ...one, once: true as const })),
    ...peer('chain, waiting', chain, '-wait-pvc'),
  ];
}
