// A candidate as a process of its own, so that a test can stop and kill it. It tells each change of `mayWrite` with the
// time at which it noticed; it asks all the time, as a busy operator would.

import { silent, systemClock } from '../../src/base/index.ts';
import { Client, Election, type LeaseTimes, loadKubeconfig } from '../../src/kube/index.ts';

const [kubeconfig = '', name = '', identity = '', times = '{}'] = process.argv.slice(2);

const election = new Election({
  client: new Client({ cluster: loadKubeconfig(kubeconfig), clock: systemClock }),
  clock: systemClock,
  log: silent,
  identity,
  namespace: 'default',
  name,
  times: JSON.parse(times) as Partial<LeaseTimes>,
  onStart: () => {},
  onStop: () => {},
});
election.start();

let before = false;
setInterval(() => {
  const mayWrite = election.mayWrite();
  if (mayWrite !== before) process.stdout.write(`${JSON.stringify({ mayWrite, at: Date.now() })}\n`);
  before = mayWrite;
}, 1);
