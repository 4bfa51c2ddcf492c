// So many MLModels to Ready, by Baton, by a Go operator that makes the same objects, and by the floor for any operator.
// The contestants take turns, in another order every round, each turn on a control plane of its own.

import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { type Contestant, contestants, type Name, type Programs } from './contestants.ts';
import { type Course, runTurn, type Turn } from './turn.ts';
import { startRegistry } from '../../tests/kit/registry.ts';

/** Our program beside this file, before it is compiled. */
const ours = join(import.meta.dirname, 'ours.ts');

export interface ModelsOptions extends Pick<Programs, 'operator' | 'chain'> {
  /** Where a source of ours is once it is compiled. */
  compiled: (source: string) => string;
  models: number;
  /** In the last of several rounds Baton and the Go operator go on to so many. */
  grown: number;
  rounds: number;
  /** Seconds of rest. */
  steady: number;
  say: (line: string) => void;
}

export interface ModelsResult {
  models: number;
  grown: number;
  rounds: number;
  turns: Partial<Record<Name, Turn[]>>;
}

/** Runs all rounds. */
export async function benchModels(options: ModelsOptions): Promise<ModelsResult> {
  const { models, grown, rounds, operator, chain, say } = options;
  await using registry = await startRegistry();
  const digest = await registry.push('models/iris:1');
  const weights = `${registry.host}/models/iris@${digest}`;
  const all = contestants({ baton: await bundle(), images: options.compiled(ours), operator, chain, weights });
  const turns: ModelsResult['turns'] = {};
  for (let round = 0; round < rounds; round++)
    for (const contestant of inOrder(all, round)) {
      say(`models: round ${round + 1} of ${rounds}, ${contestant.name}`);
      const began = performance.now();
      const turn = await runTurn(contestant, courseOf(contestant, round, options));
      (turns[contestant.name] ??= []).push(turn);
      const { all: ready } = turn.made.ready;
      say(
        `models: Ready after ${ready.toFixed(1)} s, over after ${((performance.now() - began) / 1_000).toFixed(0)} s`,
      );
    }
  return { models, grown, rounds, turns };
}

/** Forwards in one round, backwards in the next. */
function inOrder(all: readonly Contestant[], round: number): Contestant[] {
  const taking = all.filter(({ once }) => round === 0 || !once);
  return round % 2 === 0 ? taking : taking.toReversed();
}

/** Rest and a new start in the first round, growth in the last: a program that was started again has other memory. */
function courseOf({ name }: Contestant, round: number, { models, grown, rounds, steady }: ModelsOptions): Course {
  const rests = name === 'Baton' || name === 'Baton, images' || name === 'Go';
  const grows = name === 'Baton' || name === 'Go';
  if (round === 0) return { models, room: grown, ...(rests && { steady, restart: true as const }) };
  return { models, room: grown, ...(grows && round === rounds - 1 && { grown }) };
}
