// A load that never pauses on a model behind a real Service, while everything happens to it that happens to a model: not one
// request may fail, whichever kind serves it. The clients never try again, and each has a request under way on its kept-alive
// connection at all times.

import { deepEqual, ok } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startFaultProxy } from '../../controlplane/faults/index.ts';
import { skipReason } from '../../controlplane/node/index.ts';
import { home } from '../../tools/index.ts';
import { eventually } from '../kit/eventually.ts';
import { type Origin, serve, startOrigin } from '../kit/origin.ts';
import { type RunningOperator, startProcess } from '../kit/process.ts';
import { type Factor, factors, hasAnswered, Load, multiplier } from './clients.ts';
import { freshNamespace } from './pods.ts';
import { openStage, type Stage, UserModel } from './stage.ts';
import { ways } from './ways.ts';

const enough = 100_000;

suite('a load without a pause', { skip: await skipReason() }, () => {
  let stage: Stage;
  let origin: Origin;
  let things: AsyncDisposableStack;
  let kubeconfig: string;
  before(async () => {
    things = new AsyncDisposableStack();
    stage = things.use(await openStage());
    const { cluster } = stage;
    const files = Object.fromEntries(factors.map((factor) => [`/${factor}.onnx`, multiplier(factor)]));
    origin = await startOrigin(
      (request, response) => serve(request, response, files[request.url ?? ''] ?? Buffer.alloc(0), { etag: '"1"' }),
      { address: cluster.machineAddress },
    );
    things.use(origin);
    const proxy = await startFaultProxy({ upstream: { url: cluster.url, caPem: cluster.caPem } });
    things.defer(() => proxy.stop());
    kubeconfig = join(cluster.folder, 'operator.kubeconfig');
    writeFileSync(kubeconfig, proxy.kubeconfig(await cluster.token(home.namespace, home.serviceAccount)));
  });
  after(() => things?.disposeAsync());

  /** As in a cluster: several may run, one leads. */
  async function operator(build: { build?: 'another' } = {}): Promise<RunningOperator> {
    const { cluster, image } = stage;
    const lease = { namespace: home.namespace, name: 'baton' };
    const plainRegistries = [cluster.registry];
    const own = { kubeconfig, outside: cluster.folder, controller: 'mlmodel', lease, image, plainRegistries } as const;
    const started = await startProcess(cluster.folder, { ...own, ...build });
    things.defer(() => (started.alive() ? started.kill() : undefined));
    return started;
  }

  for (const [kind, open] of Object.entries(ways))
    test(`loses no request through all that happens to a ${kind}`, (context) => live(context, open));

  async function live(context: TestContext, open: (typeof ways)[string]): Promise<void> {
    const way = await open(stage, origin);
    const model = new UserModel(stage.cluster, await freshNamespace(stage.cluster), way.kind);
    const ask = (factor: Factor, replicas = 1) => model.apply(way.spec(factor, replicas));
    const oneServer = () =>
      eventually(
        async () => {
          const pods = await model.has('pods');
          return pods.length === 1 ? pods : undefined;
        },
        { within: 60_000, what: 'one server' },
      );
    let leader = await operator();
    await ask(2);
    await model.ready();
    const load = new Load(await model.door());
    load.add(6);
    const step = stepOf(load, context);

    await step('update', async () => {
      await ask(3);
      await model.ready();
      await load.hears(3);
    });
    await step('rollback', async () => {
      await ask(2);
      await model.ready();
      await load.hears(2);
    });
    await step('scale from 1 to 3', async () => {
      await ask(2, 3);
      await model.ready();
      await eventually(
        async () => {
          load.add(3);
          const answered = await Promise.all(
            (await model.addresses()).map((address) => hasAnswered(address, way.port)),
          );
          deepEqual(answered, [true, true, true]);
          return true;
        },
        { every: 500, what: 'all three answer' },
      );
    });
    await step('scale from 3 to 1', async () => {
      await ask(2, 1);
      await model.ready();
      await oneServer();
    });
    await step('operator SIGKILL in the middle of an update', async () => {
      await ask(5);
      await eventually(async () => (await model.has(way.begunBy.kinds)).length >= way.begunBy.count, {
        every: 20,
        what: 'an update under way',
      });
      await leader.kill();
      leader = await operator();
      await model.ready();
      await load.hears(5);
    });
    await step('operator upgrade', async () => {
      const pods = await oneServer();
      const next = await operator({ build: 'another' });
      const told = performance.now();
      await leader.stop();
      leader = next;
      await eventually(() => next.log().includes('this process leads'), { what: 'the new one leads' });
      context.diagnostic(`the new one leads after ${((performance.now() - told) / 1_000).toFixed(1)} s`);
      await ask(5, 2); // what only the new one can have done
      await model.ready();
      deepEqual(
        (await model.has('pods')).filter((pod) => pods.includes(pod)),
        pods,
        'an upgrade alone rolled servers',
      );
      await ask(2, 1);
      await model.ready();
      await load.hears(2);
    });
    await step('API server restart in the middle of an update', async () => {
      await ask(5);
      await stage.cluster.restartApiServer();
      await model.ready();
      await load.hears(5);
    });
    await step(`at least ${enough} requests`, async () => {
      await eventually(() => load.answered() >= enough || load.failures.length > 0, {
        within: 180_000,
        what: 'enough',
      });
    });

    const { heard, connections, longest } = await load.stop();
    deepEqual(load.failures, []);
    ok(load.answered() >= enough, `${load.answered()} requests`);
    deepEqual(new Set(heard.map(String)), new Set(['2,3,2,5,2,5', '2,5,2,5']));
    const clients = `${heard.length} clients over ${connections} connections`;
    context.diagnostic(
      `${load.answered()} requests by ${clients}, none failed, the slowest took ${longest.toFixed()} ms`,
    );
    await model.delete();
    await leader.stop();
  }
});

/** A step with some time after it for what it leaves behind, and how it went. */
const stepOf = (load: Load, context: TestContext) => async (name: string, run: () => Promise<void>) => {
  const [began, counted] = [performance.now(), load.counts()];
  await run();
  await pause(2_000);
  deepEqual(load.failures, [], name);
  const answers = load.counts().map((count, client) => count - (counted[client] ?? 0));
  ok(Math.min(...answers) > 0, `${name}: a client heard nothing: ${answers.join(' ')}`);
  const took = (performance.now() - began) / 1_000;
  const sum = answers.reduce((total, one) => total + one, 0);
  context.diagnostic(`${name}: ${took.toFixed(1)} s, ${sum} requests`);
};
