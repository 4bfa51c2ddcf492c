// `make demo NODE=real` and `make run NODE=real`, as a new user on Linux with root starts them: what they make is said first, a
// real model gives a real answer, and nothing is left, however they end.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { footprint, skipReason } from '../../controlplane/node/index.ts';
import { iris, irisProbabilities } from '../kit/onnx/models.ts';
import { eventually } from '../kit/eventually.ts';
import { foldersOf, type Show, show } from '../kit/show.ts';
import { left, type Marks, marksOf } from './traces.ts';

const real = '--node=real';

/** The cluster of a show once it has a node: its link is there. */
const marksOfShow = (running: Show): Promise<Marks> =>
  eventually(
    () => {
      const [folder] = foldersOf(running.pid);
      const marks = folder === undefined ? undefined : marksOf(join(tmpdir(), folder));
      if (marks && marks.link !== '') return marks;
      throw new Error(running.said());
    },
    { within: 120_000, what: 'a cluster' },
  );

async function nothingLeft(marks: Marks): Promise<void> {
  const gone = () => {
    const lines = left(marks);
    if (lines.length === 0) return true;
    throw new Error(lines.join('\n'));
  };
  await eventually(gone, { within: 30_000, what: 'everything is gone' });
}

suite('what a new user with root does', { skip: await skipReason() }, () => {
  test('make demo NODE=real ends with a prediction and 0, and leaves nothing', { timeout: 300_000 }, async () => {
    const demo = show(['--demo', real]);
    const marks = await marksOfShow(demo);
    equal(await demo.ended, 0, demo.said());
    const said = demo.said();
    ok(said.startsWith(footprint.join('\n')), 'what is made on the machine is said first');
    for (const phase of ['Downloading', 'Serving', 'Ready']) match(said, new RegExp(`^ +[\\d.]+ s  ${phase} `, 'm'));
    match(said, /^\$ kubectl get mlm +# real pods on a real node\nNAME +PHASE .*\niris +Ready +True/m);
    equal(said.includes('simulated'), false);
    const [, answer = ''] = /^\$ curl .*\/v2\/models\/model\/infer -d .*\n(.*)$/m.exec(said) ?? [];
    deepEqual(rounded(probabilitiesIn(answer)), rounded(irisProbabilities(iris.flowers[1] ?? [])));
    match(said, /is an iris versicolor/);
    match(said, /Everything is stopped, and nothing is left\.$/m);
    await nothingLeft(marks);
  });

  test('make run NODE=real goes on until Ctrl-C, and leaves nothing', { timeout: 300_000 }, async () => {
    const run = show([real]);
    await eventually(() => run.said().includes('Ctrl-C stops everything'), { within: 200_000, what: 'the guide' });
    const marks = await marksOfShow(run);
    ok(marks.processes.size > 10, 'the control plane, the node and its pods run');
    run.signal('SIGINT');
    equal(await run.ended, 0, run.said());
    match(run.said(), /nothing is left/);
    await nothingLeft(marks);
  });

  test('make run NODE=real can be stopped while its node starts', { timeout: 120_000 }, async () => {
    const run = show([real]);
    const marks = await marksOfShow(run);
    run.signal('SIGINT');
    equal(await run.ended, 0, run.said());
    await nothingLeft(marks);
  });

  test('nothing is left of one that is killed while its pods run', { timeout: 200_000 }, async () => {
    const run = show([real]);
    await eventually(() => /^ +[\d.]+ s  Serving /m.test(run.said()), { within: 120_000, what: 'pods' });
    const marks = await marksOfShow(run);
    ok(marks.processes.size > 10, 'the control plane, the node and its pods run');
    run.signal('SIGKILL');
    equal(await run.ended, null);
    await nothingLeft(marks);
  });

  test('a sort of node that does not exist is named', async () => {
    const run = show(['--node=imagined']);
    equal(await run.ended, 1);
    match(run.said(), /^NODE is simulated or real, not imagined$/m);
  });
});

function probabilitiesIn(answer: string): number[] {
  const { outputs } = JSON.parse(answer) as { outputs: { name: string; data: number[] }[] };
  return outputs.find(({ name }) => name === 'probabilities')?.data ?? [];
}

const rounded = (values: readonly number[]): number[] => values.map((value) => Number(value.toFixed(5)));
