// A load that never pauses on a model behind a real Service, while everything happens to it that happens to a model: not one
// request may fail. The clients never try again, and each has a request under way on its kept-alive connection at all times.

import { deepEqual, ok } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startFaultProxy } from '../../controlplane/faults/index.ts';
import { skipReason } from '../../controlplane/node/index.ts';
import { home } from '../../tools/index.ts';
import { eventually } from '../kit/eventually.ts';
import { askOnAndOn, inferRequest, type Question, type Seen } from '../kit/keepalive.ts';
import { matrix, oneNode } from '../kit/onnx/models.ts';
import { type Origin, serve, startOrigin } from '../kit/origin.ts';
import { type RunningOperator, startProcess } from '../kit/process.ts';
import { freshNamespace } from './pods.ts';
import { openStage, type Stage, UserModel } from './stage.ts';

const enough = 100_000;

/** The versions of the model: each multiplies by a number of its own. */
type Factor = 2 | 3 | 5;

const factors: readonly Factor[] = [2, 3, 5];

const multiplier = (factor: Factor): Buffer =>
  oneNode(
    'Mul',
    [
      { name: 'x', type: 'FP32', shape: ['batch', 4] },
      { name: 'y', type: 'FP32', shape: ['batch', 4] },
    ],
    { initializers: [matrix('factor', [1], [factor])] },
  );

/** Numbers that no other request has, and which version multiplied them. */
function numbers(asked: number, heard: (factor: number) => void): Question {
  const data = [asked, asked + 0.5, -asked, 1];
  const body = JSON.stringify({
    id: String(asked),
    inputs: [{ name: 'x', shape: [1, 4], datatype: 'FP32', data }],
  });
  return {
    request: inferRequest('/v2/models/model/infer', body),
    wrong(text) {
      const { id, outputs } = JSON.parse(text) as { id: string; outputs: { data: number[] }[] };
      const found = outputs[0]?.data ?? [];
      const factor = factors.find((one) => one === found[3]);
      const right = found.length === 4 && data.every((value, index) => found[index] === value * (factor ?? 0));
      if (id !== String(asked) || !right || factor === undefined) return `not the answer to ${body}: ${text}`;
      heard(factor);
      return undefined;
    },
  };
}

/** Clients that ask on and on. */
class Load {
  readonly #door: { host: string; port: number };
  readonly #clients: { heard: number[]; seen: Promise<Seen> }[] = [];
  #stopped = false;
  #asked = 0;
  answered = 0;
  /** Failures as they come. */
  readonly failures: string[] = [];

  constructor(door: { host: string; port: number }) {
    this.#door = door;
  }

  /** So many more of them, each on a connection of its own. */
  add(count: number): void {
    for (let made = 0; made < count; made++) {
      const heard: number[] = [];
      const hear = (factor: number) => {
        this.answered++;
        if (heard.at(-1) !== factor) heard.push(factor);
      };
      const seen = askOnAndOn({
        address: () => this.#door,
        question: () => numbers(this.#asked++ % 1_000_000, hear),
        stop: () => this.#stopped,
      });
      void seen.then(({ failures }) =>
        this.failures.push(...failures.map((one) => `${new Date().toISOString()} ${one}`)),
      );
      this.#clients.push({ heard, seen });
    }
  }

  /** Waits until every client hears this version, and no client has failed. */
  async hears(factor: Factor): Promise<void> {
    await eventually(
      () => {
        deepEqual(this.failures, []);
        return this.#clients.every(({ heard }) => heard.at(-1) === factor);
      },
      { within: 90_000, what: `all clients hear ${factor}` },
    );
  }

  async stop(): Promise<{ heard: number[][]; connections: number }> {
    this.#stopped = true;
    const all = await Promise.all(this.#clients.map(({ seen }) => seen));
    const connections = all.reduce((sum, one) => sum + one.connections, 0);
    return { heard: this.#clients.map(({ heard }) => heard), connections };
  }
}

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
    const own = { kubeconfig, outside: cluster.folder, controller: 'mlmodel', lease, image } as const;
    const started = await startProcess(cluster.folder, { ...own, ...build });
    things.defer(() => (started.alive() ? started.kill() : undefined));
    return started;
  }

  test('loses no request through all that happens to a model', async (context) => {
    const model = new UserModel(stage.cluster, await freshNamespace(stage.cluster));
    const ask = async (factor: Factor, replicas = 1) => {
      const modelURL = `http://${origin.host}/${factor}.onnx`;
      await model.apply({ modelURL, storageSize: '64Mi', framework: 'onnx', expose: true, replicas });
    };
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
      load.add(6); // on all three
    });
    await step('scale from 3 to 1', async () => {
      await ask(2, 1);
      await model.ready();
      await oneServer();
    });
    await step('operator SIGKILL in the middle of an update', async () => {
      await ask(5);
      await eventually(async () => (await model.has('jobs')).length > 0, { every: 20, what: 'a download' });
      await leader.kill();
      leader = await operator();
      await model.ready();
      await load.hears(5);
    });
    await step('operator upgrade', async () => {
      const pods = await oneServer();
      const next = await operator({ build: 'another' });
      await leader.stop();
      leader = next;
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
    await step('API server restart', async () => {
      await stage.cluster.restartApiServer();
      await ask(5);
      await model.ready();
      await load.hears(5);
    });
    await step(`at least ${enough} requests`, async () => {
      await eventually(() => load.answered >= enough || load.failures.length > 0, { within: 180_000, what: 'enough' });
    });

    const { heard, connections } = await load.stop();
    deepEqual(load.failures, []);
    ok(load.answered >= enough, `${load.answered} requests`);
    deepEqual(new Set(heard.map(String)), new Set(['2,3,2,5,2,5', '2,5,2,5']));
    context.diagnostic(`${load.answered} requests over ${connections} connections, none failed`);
    await model.delete();
  });
});

/** A step with some time after it for what it leaves behind, and how it went. */
const stepOf = (load: Load, context: TestContext) => async (name: string, run: () => Promise<void>) => {
  const [began, answered] = [performance.now(), load.answered];
  await run();
  await pause(2_000);
  deepEqual(load.failures, [], name);
  const took = (performance.now() - began) / 1_000;
  context.diagnostic(`${name}: ${took.toFixed(1)} s, ${load.answered - answered} requests`);
};
