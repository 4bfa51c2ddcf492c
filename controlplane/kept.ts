// The control plane that `make cluster-up` leaves running: a process in the background owns it, and its folder says
// for which checkout. Nothing about it is kept in the checkout but the kubeconfig, so `make clean` loses nothing.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alive, homes } from './home.ts';
import { thisMachine } from './machine.ts';

/** A control plane in the background. */
export interface Kept {
  folder: string;
  owner: number;
}

/** The checkout that this file is in. */
export const checkout: string = join(import.meta.dirname, '..');

/** Where people find the kubeconfig, unless they ask for another place. */
export const kubeconfigIn = (asked: string | undefined): string => asked ?? join(checkout, 'build', 'kubeconfig');

/** Writes down that a control plane is the one of this checkout. */
export const claim = (folder: string): void => writeFileSync(join(folder, marker), checkout);

/** The control plane of this checkout, if one is running. */
export const findKept = (): Kept | undefined =>
  homes(thisMachine().temporary).find(({ folder, owner }) => alive(owner) && claimed(folder) === checkout);

const marker = 'checkout';

function claimed(folder: string): string | undefined {
  const path = join(folder, marker);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
