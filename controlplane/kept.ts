// The control plane that `make cluster-up` leaves running: a process in the background owns it, and its folder says
// for which checkout. Nothing about it is kept in the checkout but the kubeconfig, so `make clean` loses nothing.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { homes } from './home.ts';
import { lockAddress, type Machine, thisMachine } from './machine.ts';
import { runs } from './processes.ts';

/** A control plane in the background. */
export interface Kept {
  folder: string;
  owner: number;
}

/** The checkout that this file is in. */
export const checkout: string = join(import.meta.dirname, '..');

/** The program of the process in the background. */
export const keeper: string = join(import.meta.dirname, 'keep.ts');

/** Where people find the kubeconfig, unless they ask for another place. */
export const kubeconfigIn = (asked: string | undefined): string => asked ?? join(checkout, 'build', 'kubeconfig');

/** Held by whoever starts or stops the control plane of this checkout, so that there is never a second one. */
export const keptLock = (machine: Machine = thisMachine()): string => lockAddress(machine, 'kept', checkout);

/** Writes down that a control plane is the one of this checkout. */
export const claim = (folder: string): void => writeFileSync(join(folder, marker), checkout);

/** The control plane of this checkout, if one is running. A folder whose number is a stranger's by now is none. */
export const findKept = (machine: Pick<Machine, 'temporary' | 'user'> = thisMachine()): Kept | undefined =>
  homes(machine).find(({ folder, owner }) => claimed(folder) === checkout && runs(owner, keeper));

/** The kind of nodes that a control plane has. */
export const nodesOf = ({ folder }: Kept): 'real' | 'simulated' =>
  existsSync(join(folder, 'nodes')) ? 'real' : 'simulated';

const marker = 'checkout';

function claimed(folder: string): string | undefined {
  const path = join(folder, marker);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
