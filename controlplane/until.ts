// Waiting with an end: a condition is asked again and again until it holds, the time is up, or a component has ended.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Component, ComponentFailure, logTail } from './component.ts';

/** What is waited for, for how long, and whose end makes the waiting pointless. */
export interface Wait {
  what: string;
  milliseconds: number;
  folder: string;
  /** The one that is to blame if the time is up comes last. */
  components: Component[];
}

/** Resolves when `holds` does; a call that throws counts as no. A question that hangs does not hide an end. */
export async function until(holds: () => Promise<boolean>, wait: Wait): Promise<void> {
  const end = performance.now() + wait.milliseconds;
  const ended = wait.components.map((component) => component.ended.then(() => false));
  for (;;) {
    const answer = await Promise.race([holds().catch(() => false), ...ended]);
    for (const component of wait.components) {
      const how = component.ending();
      if (how) throw new ComponentFailure(component.name, how, logTail(wait.folder, component.name));
    }
    if (answer) return;
    if (performance.now() > end) throw tooLate(wait);
    await sleep(50);
  }
}

function tooLate({ what, milliseconds, folder, components }: Wait): Error {
  const message = `did not bring about in ${milliseconds / 1000} s: ${what}`;
  const last = components.at(-1);
  if (!last) return new Error(message);
  return new ComponentFailure(last.name, message, logTail(folder, last.name));
}
