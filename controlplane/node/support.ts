// Whether real nodes can run on this machine, found out by trying and told by the name of what is missing, so that a
// suite that is skipped says why. Where they have to run, as on a build server, a skip is a failure.

import { mkdtempSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ownedFolders } from '../home.ts';
import { type Machine, thisMachine } from '../machine.ts';
import { alive } from '../processes.ts';
import { type Say, sayAside } from '../programs.ts';
import { cgroupVersion, controllers, neededControllers, whyNotHandedOn } from './cgroups.ts';
import { inNamespaces } from './namespaces.ts';
import { nftFolder, onPath } from './packages.ts';
import { run } from './run.ts';

/** What keeps real nodes from running here, or nothing. */
export async function whyNot(machine: Machine = thisMachine(), say: Say = sayAside): Promise<string | undefined> {
  const first = withoutRoot(machine);
  if (first) return first;
  const tools = missingTools(machine) ?? hiddenFolder(machine) ?? missingCgroups();
  if (tools) return tools;
  const nft = await nftFolder(machine, say).catch((error: Error) => error);
  if (nft instanceof Error) return nft.message;
  return missingInKernel(machine, join(nft, 'nft'));
}

/** For the `skip` of a suite: false, or the reason. On Linux as root with `CI` set a reason is thrown instead. */
export async function skipReason(machine: Machine = thisMachine()): Promise<string | false> {
  const reason = await whyNot(machine);
  if (reason && machine.environment['CI'] && !withoutRoot(machine)) {
    throw new Error(`real nodes have to run here, as CI is set, but: ${reason}`);
  }
  return reason ?? false;
}

function withoutRoot({ platform, user }: Machine): string | undefined {
  if (!platform.startsWith('linux')) return `this is ${platform}, and a kubelet needs Linux`;
  return user === 0 ? undefined : 'only root may make the namespaces and cgroups of a node';
}

const packagesOf = { unshare: 'util-linux', nsenter: 'util-linux', mount: 'mount', ip: 'iproute2', find: 'findutils' };

function missingTools(machine: Machine): string | undefined {
  const absent = Object.entries(packagesOf).filter(([tool]) => !onPath(tool, machine));
  if (absent.length === 0) return undefined;
  return absent.map(([tool, name]) => `the program ${tool} is missing (package ${name})`).join('; ');
}

/** A node has its own of these. */
const hidden = ['/run/', '/var/lib/', '/var/log/'];

function hiddenFolder({ cache, temporary }: Machine): string | undefined {
  const [found] = [cache, temporary].filter((folder) => hidden.some((place) => `${folder}/`.startsWith(place)));
  return (
    found &&
    `${found} is in a place that a node hides; set BATON_CACHE or TMPDIR to one outside of ${hidden.join(', ')}`
  );
}

/** What our tries are called, before the number of the process. */
const probing = 'baton-probe-';

function missingCgroups(): string | undefined {
  const present = controllers();
  const absent = neededControllers.filter((name) => !present.includes(name));
  if (absent.length > 0) return `the cgroup controllers ${absent.join(', ')} are missing (version ${cgroupVersion()})`;
  const kept = whyNotHandedOn();
  if (kept) return kept;
  const name = `${probing}${process.pid}`;
  const group = join('/sys/fs/cgroup', ...(cgroupVersion() === 1 ? ['memory'] : []), name);
  try {
    mkdirSync(group);
    rmdirSync(group);
    return undefined;
  } catch (error) {
    return `cgroups cannot be made: ${(error as Error).message}`;
  }
}

/** A folder to try things in. One whose process was killed while it tried is removed on the way. */
export function probeFolder(machine: Machine): string {
  for (const { folder, owner } of ownedFolders(probing, machine))
    if (!alive(owner)) rmSync(folder, { recursive: true, force: true });
  return mkdtempSync(join(machine.temporary, `${probing}${process.pid}-`));
}

/** In namespaces that go with the shell. */
async function missingInKernel(machine: Machine, nft: string): Promise<string | undefined> {
  const folder = probeFolder(machine);
  const script = join(import.meta.dirname, 'probe.sh');
  try {
    const said = await run([...inNamespaces, 'sh', script, folder, nft]);
    return said.trim().split('\n').filter(Boolean).join('; ') || undefined;
  } catch (error) {
    return `namespaces cannot be made: ${(error as Error).message}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
