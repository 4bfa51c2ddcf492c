// Images of servers that no node of this machine can run: for another architecture, one that only says to be for this one,
// and one whose program uses an instruction that no CPU knows.

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodePrograms, type RealCluster } from '../../controlplane/node/index.ts';
import { push } from './pods.ts';

export interface StrangeImages {
  foreign: string;
  mislabelled: string;
  unknownInstruction: string;
}

/** Where an ELF file says for which CPU it is. */
const machineAt = 18;

/** How it says so, and an instruction that is never one. */
const cpus = {
  amd64: { machine: 0x3e, never: Buffer.from([0x0f, 0x0b]) },
  arm64: { machine: 0xb7, never: Buffer.alloc(4) },
} as const;

/** Puts them into the registry of a cluster. */
export async function pushStrange(cluster: RealCluster): Promise<StrangeImages> {
  const { probe } = await nodePrograms(['probe']);
  const bytes = readFileSync(probe);
  const [own, other] =
    bytes[machineAt] === cpus.amd64.machine ? (['amd64', 'arm64'] as const) : (['arm64', 'amd64'] as const);
  bytes[machineAt] = cpus[other].machine;
  const image = (name: string, program: Buffer, more: { architecture?: string } = {}) => {
    const file = join(cluster.folder, 'strange');
    writeFileSync(file, program);
    return push(cluster, `tests/${name}:1`, { entrypoint: ['/program'], files: { program: { from: file } }, ...more });
  };
  return {
    foreign: await indexOf(await image('foreign', bytes, { architecture: other })),
    mislabelled: await image('mislabelled', bytes),
    unknownInstruction: await image('unknown', dying(cpus[own])),
  };
}

/** A list of builds with this one alone: only then a node is told for what there is a build. */
async function indexOf(image: string): Promise<string> {
  const { crane } = await nodePrograms(['crane']);
  const index = `${image}-index`;
  await promisify(execFile)(crane, ['index', 'append', '--insecure', '--manifest', image, '--tag', index]);
  return index;
}

/** The smallest program: its first instruction is its last. */
function dying({ machine, never }: (typeof cpus)[keyof typeof cpus]): Buffer {
  const [start, header, segment] = [0x400000n, 64, 56];
  const elf = Buffer.alloc(header + segment);
  elf.write('\x7fELF\x02\x01\x01', 'latin1');
  elf.writeUInt16LE(2, 16); // a program
  elf.writeUInt16LE(machine, machineAt);
  elf.writeUInt32LE(1, 20);
  elf.writeBigUInt64LE(start + BigInt(elf.length), 24); // where it begins
  elf.writeBigUInt64LE(BigInt(header), 32); // where its one segment is told of
  elf.writeUInt16LE(header, 52);
  elf.writeUInt16LE(segment, 54);
  elf.writeUInt16LE(1, 56);
  elf.writeUInt32LE(1, header); // to be loaded
  elf.writeUInt32LE(5, header + 4); // to be read and run
  elf.writeBigUInt64LE(start, header + 16);
  elf.writeBigUInt64LE(start, header + 24);
  const size = BigInt(elf.length + never.length);
  for (const at of [32, 40]) elf.writeBigUInt64LE(size, header + at);
  elf.writeBigUInt64LE(0x1000n, header + 48);
  return Buffer.concat([elf, never]);
}
