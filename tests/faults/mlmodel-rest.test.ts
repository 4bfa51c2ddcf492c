// Models that want nothing cost nothing: whatever they have come to, no request is made for them but the lease.

import { after, before, test } from 'node:test';
import { exitCode, sayLastWord } from '../../src/api/index.ts';
import { onLane } from '../kit/lane.ts';
import { briefly, mlmodel } from '../kit/modellife.ts';
import { bringTo, costsNothing, type Resting } from '../kit/rest.ts';
import { type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, mlmodel.installed)));
after(() => rig.stop());

const refused = sayLastWord({ result: 'verdict', verdict: 'SourceNotFound', message: 'there is no such file' });

const states: Record<string, Resting> = {
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
    await bringTo(lane, states);
    await costsNothing(lane, t);
  }));
