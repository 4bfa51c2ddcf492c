// Models in a world that moves while the operator looks at an old picture of it, and in one that moved and moved back before
// it looked.

import { deepEqual, equal } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { exitCode, mark, MLModel, sayLastWord } from '../../src/api/index.ts';
import {
  conditionOf,
  isOfKind,
  Deployment,
  Job,
  type Kind,
  PersistentVolumeClaim,
  Pod,
  Service,
} from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { briefly, mlmodel } from '../kit/modellife.ts';
import { births, brokenPromises, saysReady } from '../kit/oracle.ts';
import {
  calm,
  deletions,
  endedUnseen,
  goneAndBack,
  lagging,
  livesWithLateNews,
  replacedByNamesake,
  replacedByStranger,
  restoredFromBackup,
  takenBackUnseen,
  unseen,
} from '../kit/pictures.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { ask, type Lane, name, onLane, wordsOf } from '../kit/lane.ts';
import { settles } from '../kit/story.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, mlmodel.installed)));
after(() => rig.stop());

const download = (notes: Record<string, string>) => ({
  podAnnotations: { 'sim.baton.dev/container': 'download', ...notes },
});
const slow = { ...briefly, ...download({ 'sim.baton.dev/run-for': '3s' }) };
const elsewhere = { ...briefly, modelURL: 'https://models.example/life-2.onnx' };
const otherwise = { ...briefly, env: [{ name: 'THREADS', value: '2' }] };

const story = (run: (lane: Lane<MLModel>) => Promise<void>) => () => onLane(rig, { subject: mlmodel }, run);
const servers = ({ truth }: Lane) => truth.get(Deployment, `${name}-server`);
const claims = ({ truth }: Lane) => truth.all(PersistentVolumeClaim);
const madeOf = ({ truth }: Lane, { kind }: Kind) =>
  Object.entries(births(truth.history())).filter(([called]) => called.startsWith(`${kind} `));

describe('an old picture', { concurrency: 4 }, () => {
  test(
    'of models: what was asked for again keeps its weights, though another wish was rolled out meanwhile',
    story(async (lane) => {
      await calm(lane, briefly);
      const calmed = lane.proxy.trace.mark();
      const [former] = claims(lane);
      const first = servers(lane)?.metadata.annotations?.[mark.revision];
      await ask(lane, { ...slow, modelURL: elsewhere.modelURL });
      await eventually(() => lane.truth.all(Job).length === 1, { what: 'the other weights are fetched' });
      await unseen(lane, [MLModel], async () => {
        await ask(lane, briefly);
        const rolled = () => {
          const { metadata, status } = servers(lane) ?? {};
          return (
            metadata?.annotations?.[mark.revision] !== first && status?.updatedReplicas === 1 && status.replicas === 1
          );
        };
        await eventually(rolled, { what: 'the other wish is rolled out' });
        await pause(2_000);
        deepEqual(deletions(lane, calmed).map(wordsOf), [], 'the live look at the model held every deletion back');
      });
      await settles(lane);
      equal(claims(lane)[0]?.metadata.uid, former?.metadata.uid);
    }),
  );

  test(
    'of Deployments: Ready is not told of servers that nobody saw, and their elders keep their weights',
    story(async (lane) => {
      await calm(lane, briefly);
      await unseen(lane, [Deployment], async () => {
        await ask(lane, elsewhere);
        const rolled = () =>
          servers(lane)?.metadata.generation === 2 && servers(lane)?.status?.observedGeneration === 2;
        await eventually(rolled, { what: 'the servers roll' });
        await pause(2_000);
        equal(saysReady(await rig.admin.get(MLModel, { namespace: lane.namespace, name })), false);
        equal(claims(lane).length, 2);
      });
      await settles(lane);
    }),
  );

  test(
    'of claims: weights that are gone are fetched again, and no server starts without them',
    story(async (lane) => {
      const { namespace, truth } = lane;
      await calm(lane, { ...briefly, replicas: 0 });
      const [claim] = claims(lane);
      await unseen(lane, [PersistentVolumeClaim], async () => {
        await rig.admin.delete(PersistentVolumeClaim, { namespace, name: claim?.metadata.name ?? '' });
        await eventually(() => claims(lane).length === 0, { what: 'the claim goes' });
        await ask(lane, briefly);
        await eventually(() => servers(lane)?.spec.replicas === 1, { what: 'the operator believes in the weights' });
        await pause(1_000);
      });
      await settles(lane);
      const wrong = brokenPromises(truth.history(), [], mlmodel);
      deepEqual(
        wrong.filter((words) => words.startsWith('a server')),
        [],
      );
    }),
  );

  test(
    'of Jobs: a download that failed, and was mended before that was seen, is tried again',
    story(async (lane) => {
      const word = sayLastWord({ result: 'verdict', verdict: 'SourceUnauthorized', message: 'not for you' });
      const failing = download({
        'sim.baton.dev/run-for': '1s',
        'sim.baton.dev/exit-code': String(exitCode.verdict),
        'sim.baton.dev/message': word,
      });
      await ask(lane, { ...briefly, ...failing });
      await eventually(() => lane.truth.all(Job).length === 1, { what: 'the download begins' });
      await unseen(lane, [Job, Pod], async () => {
        await eventually(() => lane.truth.all(Job)[0]?.status?.failed === 1, { what: 'it fails unseen' });
        await ask(lane, briefly);
        await pause(1_000);
      });
      await settles(lane);
      equal(conditionOf(lane.truth.get(MLModel, name)?.status, 'Stalled')?.status, 'False');
    }),
  );

  test(
    'of pods: a download whose end only its Job told is believed, and not started again',
    story(async (lane) => {
      const { truth } = lane;
      await ask(lane, { ...briefly, ...download({ 'sim.baton.dev/run-for': '2s' }) });
      const runs = () =>
        lane.proxy.trace.events.some(({ resource, deliveredAt }) => resource === 'pods' && deliveredAt);
      await eventually(() => runs() && truth.all(Pod)[0]?.status?.phase === 'Running', {
        what: 'the download is seen',
      });
      await unseen(lane, [Pod], async () => {
        await eventually(() => servers(lane), { what: 'the weights are believed in' });
      });
      await settles(lane);
      deepEqual(
        madeOf(lane, Job).map(([, { made }]) => made),
        [1],
      );
      const phases = truth
        .history()
        .map(({ object }) => (isOfKind(object, MLModel) ? object.status?.phase : undefined));
      equal(phases.includes('Failed'), false);
    }),
  );

  test(
    'of Services: one that was replaced by a stranger’s is not touched',
    story(async (lane) => {
      await calm(lane, briefly);
      const stranger: Service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: `${name}-service` },
        spec: { selector: { app: 'theirs' }, ports: [{ port: 80 }] },
      };
      await replacedByStranger(lane, Service, { stranger, edit: { ...briefly, server: { port: 8081 } } });
      equal(
        (await rig.admin.get(Service, { namespace: lane.namespace, name: `${name}-service` })).spec.ports?.[0]?.port,
        80,
      );
    }),
  );

  test(
    'of a model that was replaced by one of the same name: its children are its own',
    story(async (lane) => {
      await calm(lane, briefly);
      await replacedByNamesake(lane, { spec: otherwise, propagation: 'Background' });
    }),
  );
});

describe('what was never seen', { concurrency: 4 }, () => {
  test(
    'a download that finished and was removed by somebody else: no error remains',
    story((lane) => endedUnseen(lane, slow)),
  );

  test(
    'a Deployment that came back from a backup: it is taken back, not doubled',
    story(async (lane) => {
      await calm(lane, briefly);
      await restoredFromBackup(lane, Deployment, {
        child: `${name}-server`,
        older: (held) => ({ ...held, spec: { ...held.spec, replicas: 3 } }),
        isMended: ({ spec }) => spec.replicas === 1,
      });
      deepEqual(
        madeOf(lane, Job).map(([, { made }]) => made),
        [1],
        'the weights were not fetched again',
      );
    }),
  );

  test(
    'servers that went and came back: nothing is written, and nothing flips',
    story(async (lane) => {
      await calm(lane, { ...briefly, replicas: 2 });
      await goneAndBack(lane);
    }),
  );

  test(
    'another source that was taken back: nothing of it is fetched',
    story(async (lane) => {
      await calm(lane, briefly);
      await takenBackUnseen(lane, { spec: briefly, edit: elsewhere });
    }),
  );

  test(
    'a server that was lost and replaced',
    story(async (lane) => {
      const { namespace, truth, proxy } = lane;
      await calm(lane, briefly);
      const calmed = proxy.trace.mark();
      const pods = () => truth.all(Pod).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      await unseen(lane, [Deployment, Pod], async () => {
        const lost = pods()[0]?.metadata;
        await rig.admin.delete(Pod, { namespace, name: lost?.name ?? '' });
        await eventually(() => pods().some(({ metadata }) => metadata.uid !== lost?.uid), {
          what: 'another one comes',
        });
        await eventually(() => servers(lane)?.status?.availableReplicas === 1, { what: 'it answers' });
      });
      await pause(1_000);
      deepEqual(proxy.trace.since(calmed).calls.map(wordsOf), []);
    }),
  );
});

test('a life with late news of', { concurrency: 4 }, (t) => livesWithLateNews({ t, rig, subject: mlmodel }));

test('no read accepts an old picture: a server that lags is never believed', story(lagging));
