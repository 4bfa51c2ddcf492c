// Our operator for weights that are images in a registry on this machine, which the product itself never asks: everything
// else is as the product starts it.

import { hostname } from 'node:os';
import { egressRules, makeLog, systemClock } from '../../src/base/index.ts';
import { loadKubeconfig, startOperator } from '../../src/kube/index.ts';
import { clientsFrom, controllersFrom } from '../../src/operator/index.ts';
import { defaultSettings } from '../../tests/kit/settings.ts';

const [kubeconfig = '', weights = ''] = process.argv.slice(2);
const plainRegistries = [weights.split('/')[0] ?? ''];
const rules = egressRules({ allow: ['127.0.0.1'] });

const settings = { ...defaultSettings, image: 'baton:bench', imageVolumes: 'on', plainRegistries } as const;

const around = { clock: systemClock, random: Math.random };
const operator = await startOperator({
  ...around,
  controllers: controllersFrom(settings, clientsFrom({ plainRegistries }, { ...around, rules })),
  access: () => loadKubeconfig(kubeconfig),
  namespaces: [],
  lease: { namespace: 'baton-system', name: 'baton', identity: `${hostname()}_bench` },
  health: { host: '127.0.0.1', port: 0 },
  workers: 8,
  log: makeLog({ level: 'info', format: 'json', now: Date.now, write: (line) => void process.stderr.write(line) }),
});
process.once('SIGTERM', () => void operator.stop().then(() => process.exit(0)));
