// The operator as a program: `node src/operator/main.ts --help`. The only place that reads arguments, environment, clock
// and signals; everything below is told.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { egressRules, type Log, makeLog, systemClock } from '../base/index.ts';
import { CannotListen, type Operator, startOperator } from '../kube/index.ts';
import { clientsFrom, controllersFrom } from './controllers.ts';
import { accessFrom, apiServerFrom, leaseFrom, type Surroundings } from './place.ts';
import { readSettings } from './read.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';
import { help } from './words.ts';

/** Exit codes: wrong settings are for a person to mend, so they differ from a crash. */
const wrongSettings = 2;

const surroundings: Surroundings = {
  env: process.env,
  home: homedir(),
  read: (path) => readFileSync(path, 'utf8'),
};

function logFor({ logLevel, logFormat }: Settings): Log {
  const format = logFormat === 'auto' ? (process.stderr.isTTY ? 'text' : 'json') : logFormat;
  const write = (line: string) => void process.stderr.write(line);
  return makeLog({ level: logLevel, format, now: () => Date.now(), write });
}

/** The first signal ends the work in order; whoever sends a second one does not want to wait. */
function stopOnSignals(operator: Operator, log: Log): void {
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info('stopping', { signal });
    void operator.stop().then(() => process.exit(0));
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
}

function refuse(wrong: readonly string[]): number {
  process.stderr.write(`${wrong.map((line) => `error: ${line}\n`).join('')}See --help.\n`);
  return wrongSettings;
}

async function run(settings: Settings): Promise<number | undefined> {
  const found = accessFrom(settings, surroundings);
  if ('wrong' in found) return refuse([found.wrong]);
  const log = logFor(settings);
  process.on('uncaughtException', (error) => {
    log.error('ending because of an error that nobody expected', { error, stack: error.stack });
    process.exit(1);
  });
  const { namespaces, parentSelector, workers, healthAddress } = settings;
  const lease = leaseFrom(settings, surroundings);
  const identity = `${hostname()}_${randomUUID().slice(0, 8)}`;
  const rules = egressRules({ apiServer: apiServerFrom(found.access), deny: settings.egressDeny });
  const clients = clientsFrom(settings, { clock: systemClock, random: Math.random, rules });
  const starting = startOperator({
    controllers: controllersFrom(settings, clients),
    access: found.access,
    namespaces,
    ...(parentSelector !== undefined && { parentSelector }),
    ...(lease && { lease: { ...lease, identity } }),
    ...(healthAddress !== 'off' && { health: healthAddress }),
    workers,
    clock: systemClock,
    random: Math.random,
    log,
  });
  const operator = await starting.catch((error: unknown) => {
    if (error instanceof CannotListen) return error;
    throw error;
  });
  if (operator instanceof CannotListen)
    return refuse([`${operator.message}; name another address with --health-address HOST:PORT, or off`]);
  stopOnSignals(operator, log);
  log.info('started', { version, identity, port: operator.port, namespaces, lease });
  return undefined;
}

async function main(args: readonly string[]): Promise<number | undefined> {
  const asked = readSettings({ args, env: process.env, read: surroundings.read });
  if ('wrong' in asked) return refuse(asked.wrong);
  if ('run' in asked) return run(asked.run);
  process.stdout.write(asked.tell === 'help' ? help() : `${version}\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
