// `make run`, and with `--demo` `make demo`, which needs nobody: it ends as soon as the sample is Ready, or says why it is not.

import { guide, type Local, showLife, showTable, startLocal } from './local.ts';
import { screenOn } from './screen.ts';

const screen = screenOn(process.stdout);

/** Resolves at the first signal; nobody has to send another. */
const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
});

async function live(local: Local, mode: 'run' | 'demo'): Promise<number> {
  const reason = await Promise.race([showLife(local, screen), asked.then(() => 'stopped')]);
  if (reason === 'stopped') return 0;
  if (reason !== undefined) screen.say(`\nThis went wrong: ${reason}`);
  await showTable(local, screen);
  if (mode === 'demo') return reason === undefined ? 0 : 1;
  screen.say(guide(local));
  await asked;
  return 0;
}

async function main(args: readonly string[]): Promise<number> {
  const starting = startLocal(screen);
  const local = await Promise.race([starting, asked]);
  if (!local) return 0; // what has begun ends with this process
  try {
    return await live(local, args.includes('--demo') ? 'demo' : 'run');
  } finally {
    screen.say('\nStopping ...');
    await local.stop();
    screen.say('Everything is stopped, and nothing is left.');
  }
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
