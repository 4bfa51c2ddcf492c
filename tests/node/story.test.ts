// The whole life of a large model on a real node, once for each place that weights come from: fetched over a way that is
// cut twice, asked by the public client, changed, changed back and deleted, while a client asks that never tries again.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, suite, test, type TestContext } from 'node:test';
import { skipReason } from '../../controlplane/node/index.ts';
import { type LocalOperator, startLocalOperator } from '../../tools/index.ts';
import { eventually } from '../kit/eventually.ts';
import { must } from '../kit/rig.ts';
import { cutOnes, type Front, isResumed, sentOf } from './front.ts';
import { freshNamespace } from './pods.ts';
import { type Laid, openAll, type Source, sources } from './sources.ts';
import { openStage, type Stage, UserModel } from './stage.ts';
import { type Asker, startAsking, tableFile, tritonSees } from './tables.ts';

/** Bytes that may come twice: what was on its way when the connection was reset, for each cut. */
const overlap = 8 * 1024 ** 2;
/** Milliseconds in which a model is back that has nothing to fetch: a start of its server, on a busy machine. */
const atOnce = 60_000;

const [first, second] = [1, 2] as const;

suite('the life of a large model', { skip: await skipReason(), concurrency: 2 }, () => {
  let stage: Stage;
  let files: Record<typeof first | typeof second, Buffer>;
  let opened: Record<string, Source>;
  let operator: LocalOperator;
  const things = new AsyncDisposableStack();
  before(async () => {
    files = { [first]: tableFile(first), [second]: tableFile(second) };
    ok(files[first].length >= 200_000_000);
    stage = things.use(await openStage({ s3: 'yes' }));
    opened = await openAll(stage.cluster, things);
    const registries = Object.values(opened).flatMap(({ registry }) => registry ?? []);
    const flags = [`--image=${stage.image}`, '--leader-election=off', `--plain-registries=${registries.join(',')}`];
    operator = await startLocalOperator(stage.cluster, flags);
    things.defer(() => operator.stop());
  });
  after(async () => {
    const log = operator?.log() ?? '';
    await things.disposeAsync();
    for (const { secret } of Object.values(opened ?? {}))
      ok(secret === undefined || !log.includes(secret.secretAccessKey ?? ''), 'a secret was logged');
  });

  for (const name of Object.keys(sources))
    test(`from ${name}`, async (context) => {
      const source = opened[name];
      ok(source);
      await toldWith(operator, () => live(source, context));
    });

  async function live(source: Source, context: TestContext): Promise<void> {
    const model = new UserModel(stage.cluster, await freshNamespace(stage.cluster));
    await giveSecret(model, source);
    const began = performance.now();
    const laid = {
      [first]: await source.lay('first', files[first]),
      [second]: await source.lay('second', files[second]),
    };
    const ask = async (version: typeof first | typeof second) => {
      const edited = performance.now();
      await model.apply({ ...source.spec, modelURL: laid[version].url, framework: 'onnx', expose: true });
      const { status } = await model.ready();
      deepEqual([status?.weightsPath, status?.digest], [source.weightsPath, laid[version].digest]);
      return performance.now() - edited;
    };

    const laying = performance.now() - began;
    context.diagnostic(`laid in ${seconds(laying)}, Ready after ${seconds(await ask(first))}`);
    if (source.front) wasCutAndResumed(source.front, laid[first], context);
    const door = await model.door();
    await tritonSees(door, first);

    const asker = startAsking(door, [first, second]);
    context.diagnostic(`the second is Ready after ${seconds(await ask(second))}`);
    await hears(asker, [first, second]);
    await tritonSees(door, second);

    const fetched = largeOnes(source);
    const back = await ask(first);
    await hears(asker, [first, second, first]);
    ok(back < atOnce, `back after ${seconds(back)}`);
    equal(largeOnes(source), fetched, 'weights were fetched again');
    deepEqual(await model.has('jobs'), []);
    equal(
      (await model.has('pvc')).length,
      source.weightsPath === 'Claim' ? 2 : 0,
      'claims of this version and the last',
    );
    await tritonSees(door, first);

    const { answered, connections } = await asker.stop();
    await hears(asker, [first, second, first]);
    await keepsSecret(model, source);
    context.diagnostic(`back after ${seconds(back)}; ${answered} answers over ${connections} connections, none failed`);
    const asked = performance.now();
    await model.delete();
    context.diagnostic(`nothing is left after ${seconds(performance.now() - asked)}`);
  }

  async function giveSecret({ namespace }: UserModel, { secret }: Source): Promise<void> {
    if (!secret) return;
    const literals = Object.entries(secret).map(([key, value]) => `--from-literal=${key}=${value}`);
    await must(stage.cluster, ['-n', namespace, 'create', 'secret', 'generic', 'source', ...literals]);
  }
});

/** Nothing that others may read shows a key: neither state nor events nor the arguments of pods. */
async function keepsSecret(model: UserModel, { secret }: Source): Promise<void> {
  if (!secret?.secretAccessKey) return;
  const shown = await model.shows('mlm,events,pods,deployments,controllerrevisions,pvc');
  ok(shown.length > 1_000 && !shown.includes(secret.secretAccessKey), 'a key is shown');
}

/** Answers that hold weights: a manifest may be looked at again. */
const largeOnes = ({ front }: Source): number => (front?.log ?? []).filter(({ bytes }) => bytes > 1024 ** 2).length;

function wasCutAndResumed({ log }: Front, { url }: Laid, context: TestContext): void {
  const cut = cutOnes(log);
  equal(cut.length, 2, JSON.stringify(log));
  for (const one of cut) ok(isResumed(log, one), `${JSON.stringify(one)} was not gone on with: ${JSON.stringify(log)}`);
  const path = cut[0]?.path ?? '';
  const whole = Math.max(
    ...log.filter((one) => one.path === path && one.status === 206).map((one) => one.from + one.bytes),
  );
  const twice = sentOf(log, path) - whole;
  ok(whole >= 200_000_000, `${url}: ${whole} bytes`);
  ok(twice >= 0 && twice <= cut.length * overlap, `${twice} bytes were sent twice`);
  const ranges = log.filter((one) => one.path === path).length;
  context.diagnostic(
    `cut at ${cut.map(({ from, bytes }) => from + bytes).join(' and ')}; ${ranges} ranges, ${twice} of ${whole} bytes sent twice`,
  );
}

/** Waits until a client has heard these in turn, and nothing else. */
async function hears({ heard, failures }: Asker, expected: readonly number[]): Promise<void> {
  await eventually(() => failures.length > 0 || heard.length >= expected.length, {
    within: 60_000,
    what: `the client hears ${expected.at(-1)}`,
  });
  deepEqual([heard, failures], [expected, []]);
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

/** What fails, fails with the operator's last words. */
async function toldWith(operator: LocalOperator, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw new Error(`the operator said:\n${operator.log().split('\n').slice(-15).join('\n')}`, { cause: error });
  }
}
