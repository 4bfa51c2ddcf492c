// Models that want nothing cost nothing: whatever they have come to, no request is made for them but the lease.

import { deepEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { exitCode, sayLastWord } from '../../src/api/index.ts';
import { conditionOf } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { briefly, mlmodel } from '../kit/modellife.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { ask, atRest, onLane, wordsOf } from '../kit/lane.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, mlmodel.installed)));
after(() => rig.stop());

const refused = sayLastWord({ result: 'verdict', verdict: 'SourceNotFound', message: 'there is no such file' });

/** What models have come to, and the reason by which that is known. */
const states: Record<string, { spec: object; reason: string }> = {
  served: { spec: briefly, reason: 'Serving' },
  exposed: { spec: { ...briefly, replicas: 3, expose: true }, reason: 'Serving' },
  idle: { spec: { ...briefly, replicas: 0 }, reason: 'ScaledToZero' },
  refused: {
    spec: {
      ...briefly,
      podAnnotations: {
        'sim.baton.dev/container': 'download',
        'sim.baton.dev/exit-code': String(exitCode.verdict),
        'sim.baton.dev/message': refused,
      },
    },
    reason: 'SourceNotFound',
  },
  missing: { spec: { modelURL: 'pvc://nowhere', framework: 'onnx' }, reason: 'ClaimNotFound' },
};

test('models at rest cost no request but the lease, and no watch is opened anew, over 60 s', (t) =>
  onLane(rig, { subject: mlmodel, lease: { namespace: mlmodel.installed.home, name: 'baton' } }, async (lane) => {
    const { proxy, truth } = lane;
    await Promise.all(Object.entries(states).map(([name, { spec }]) => ask(lane, spec, name)));
    for (const [name, { reason }] of Object.entries(states))
      await eventually(() => conditionOf(truth.get(mlmodel.kind, name)?.status, 'Ready')?.reason === reason, {
        within: 60_000,
        what: `${name} is ${reason}`,
      });
    await atRest(lane, 3_000);
    const mark = proxy.trace.mark();
    await pause(60_000);
    const { calls } = proxy.trace.since(mark);
    const leases = calls.filter(({ resource }) => resource === 'leases');
    t.diagnostic(`${leases.length} requests for the lease, ${proxy.watches()} watches`);
    deepEqual(calls.filter((call) => !leases.includes(call)).map(wordsOf), []);
    ok(leases.every(({ verb }) => verb === 'update') && leases.length <= 31, `${leases.length} renewals`);
  }));
