// Servers that do not start, or do not stay. Whatever becomes of the new ones, the old ones go on.

import { doesNotMatch, equal } from 'node:assert/strict';
import { mark } from '../../../src/api/index.ts';
import { Deployment } from '../../../src/objects/index.ts';
import type { Row, Scene } from './scene.ts';
import { neverWentDark, server } from './words.ts';

interface Trouble {
  notes: Record<string, string>;
  reason: string;
  words: RegExp;
}

const noImage = (message?: string) => ({ fault: 'image-pull-error', ...(message !== undefined && { message }) });
const unpack = 'failed to pull and unpack image "servers/onnx:2"';

const images: Trouble[] = [
  {
    notes: noImage(),
    reason: 'ImageUnavailable',
    words: /failed to pull and unpack image "baton:1".*: not found \(check the name/,
  },
  {
    notes: noImage(`${unpack}: no match for platform in manifest: not found`),
    reason: 'UnsupportedCPU',
    words: /no match for platform in manifest.*not built for the architecture of this node: choose nodes by/,
  },
  {
    notes: noImage(`${unpack}: failed to authorize: 401 Unauthorized`),
    reason: 'ImageUnavailable',
    words: /401 Unauthorized.*imagePullSecrets/,
  },
  {
    notes: { fault: 'crash', 'exit-code': '132', message: 'Illegal instruction (core dumped)' },
    reason: 'UnsupportedCPU',
    words: /exit code 132 SIGILL: Illegal instruction.*AVX/,
  },
];

const noSuchImage: Row = {
  name: '14: an image that is missing, private, of another architecture or for another CPU is told, and the old servers go on',
  async play(scene) {
    await scene.model();
    const first = await scene.ready();
    for (const trouble of images) await troubled(scene, trouble, first.status?.servingRevision);
    await scene.model();
    equal((await scene.ready()).status?.servingRevision, first.status?.servingRevision);
    await neverWentDark(scene);
  },
};

/** Rolls out what cannot serve: it is told why, and what served goes on, with nothing undone by itself. */
async function troubled(scene: Scene, { notes, reason, words }: Trouble, serving: string | undefined): Promise<void> {
  await scene.model({ ...server(notes), ...deadline });
  await scene.holds('Ready', { status: 'False', reason });
  const { status } = await scene.says(words);
  equal(status?.servingRevision, serving);
  const [running] = await scene.own(Deployment);
  equal(running?.metadata.annotations?.[mark.revision], status?.revision, 'nobody goes back unasked');
}

const deadline = { rollout: { progressDeadlineSeconds: 30 } };

/** What a program says before it dies may hold what nobody else should read. */
const lastWords = 'loading\nbad magic number in https://bob:hunter2@models.example/iris?sig=c2ln of password=hunter3';

const endings: Trouble[] = [
  {
    notes: { fault: 'crash', 'exit-code': '7', message: lastWords },
    reason: 'CrashLooping',
    words: /keeps crashing with exit code 7: bad magic number in https:\/\//,
  },
  { notes: { fault: 'oom-killed' }, reason: 'OutOfMemory', words: /lack of memory, exit code 137/ },
  { notes: { fault: 'not-ready' }, reason: 'NotReady', words: /its readiness probe does not succeed/ },
];

const noSuchServer: Row = {
  name: '15: a server that crashes, takes too much memory or never gets ready is told so, and at the deadline that it will not',
  async play(scene) {
    await scene.model(deadline);
    const first = await scene.ready();
    for (const trouble of endings) {
      await troubled(scene, trouble, first.status?.servingRevision);
      doesNotMatch(JSON.stringify((await scene.get()).status), /hunter|c2ln/);
      await scene.holds('Reconciling', { status: 'True' });
    }
    await scene.holds('Stalled', { status: 'True', reason: 'NotReady' });
    await scene.holds('Reconciling', { status: 'False' });
    await scene.says(/its readiness probe does not succeed.*revision \w+ serves/);
    await scene.model(deadline);
    equal((await scene.ready()).status?.servingRevision, first.status?.servingRevision);
    await neverWentDark(scene);
  },
};

export const serverRows: Row[] = [noSuchImage, noSuchServer];
