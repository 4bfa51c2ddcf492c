// `make run`, and with `--demo` `make demo`, which needs nobody: it ends as soon as the sample is Ready, and has answered where
// the node is real, or says why not.

import { parseArgs } from 'node:util';
import { wordsOf } from '../../src/base/index.ts';
import { guide, type Local, showLife, showProof, showTable, startLocal } from './local.ts';
import { openReal } from './real.ts';
import { screenOn } from './screen.ts';
import { openSimulated } from './simulated.ts';
import type { OpenStage } from './stage.ts';

const screen = screenOn(process.stdout);
const options = { demo: { type: 'boolean', default: false }, node: { type: 'string', default: 'simulated' } } as const;
const stages: Readonly<Record<string, OpenStage>> = { simulated: openSimulated, real: openReal };

/** Resolves at the first signal; nobody has to send another. */
const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
});

/** The life, the table, and the answer; a reason if one of them is not as it should be. */
async function shown(local: Local): Promise<string | undefined> {
  const unready = await showLife(local, screen);
  await showTable(local, screen);
  return unready ?? showProof(local, screen);
}

async function live(local: Local, mode: 'run' | 'demo'): Promise<number> {
  const reason = await Promise.race([shown(local), asked.then(() => 'stopped')]);
  if (reason === 'stopped') return 0;
  if (reason !== undefined) screen.say(`\nThis went wrong: ${reason}`);
  if (mode === 'demo') return reason === undefined ? 0 : 1;
  screen.say(guide(local));
  await asked;
  return 0;
}

async function main(args: string[]): Promise<number> {
  const { demo, node } = parseArgs({ args, options }).values;
  const open = stages[node];
  if (!open) throw new Error(`NODE is ${Object.keys(stages).join(' or ')}, not ${node}`);
  const local = await Promise.race([startLocal(open, screen), asked]);
  if (!local) return 0; // what has begun ends with this process
  try {
    return await live(local, demo ? 'demo' : 'run');
  } finally {
    screen.say('\nStopping ...');
    await local.stop();
    screen.say('Everything is stopped, and nothing is left.');
  }
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exit(1);
}
