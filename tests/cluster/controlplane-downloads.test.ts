// Simulated downloads: a pod of the component `download` behaves like our program without being told, and as it is told
// where somebody tells it.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { downloadArguments, heardLastWord, heardProgress } from '../../src/api/index.ts';
import { eventually } from './controlplane-waiting.ts';

interface Pod {
  metadata: { name: string };
  status: {
    phase: string;
    startTime?: string;
    containerStatuses?: {
      state: {
        running?: { startedAt: string };
        waiting?: { reason: string; message?: string };
        terminated?: { exitCode: number; message?: string };
      };
    }[];
  };
}

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane({ nodes: 1 });
});
after(() => plane.stop());

const pods = '/api/v1/namespaces/default/pods';

interface Wish {
  notes?: Record<string, string>;
  url?: string;
  digest?: string;
}

async function download({ notes = {}, url = 'https://models.example/a', digest }: Wish): Promise<string> {
  const order = { url, target: '/weights', framework: 'onnx', ...(digest !== undefined && { digest }) };
  const body = {
    metadata: {
      generateName: 'download-',
      labels: { 'app.kubernetes.io/component': 'download' },
      annotations: Object.fromEntries(Object.entries(notes).map(([key, value]) => [`sim.baton.dev/${key}`, value])),
    },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'download', image: 'baton:1', args: downloadArguments(order) }],
    },
  };
  const made = await plane.request({ method: 'POST', path: pods, body });
  equal(made.status, 201, JSON.stringify(made.body));
  return (made.body as Pod).metadata.name;
}

const read = async (name: string): Promise<Pod> => (await plane.request({ path: `${pods}/${name}` })).body as Pod;
const ended = (name: string): Promise<Pod> =>
  eventually(
    () => read(name),
    ({ status }) => ['Succeeded', 'Failed'].includes(status.phase),
  );
const end = ({ status }: Pod) => status.containerStatuses?.[0]?.state.terminated;
const log = async (name: string) => (await plane.kubectl(['logs', name])).stdout;

test('a download runs for a while, prints how far it is, and says what it fetched', async () => {
  const name = await download({});
  await eventually(
    () => read(name),
    ({ status }) => status.phase === 'Running',
  );
  const seen = new Set<number>();
  await eventually(
    async () => {
      seen.add(heardProgress(await log(name))?.bytes ?? -1);
      return read(name);
    },
    ({ status }) => status.phase === 'Succeeded',
  );
  ok(seen.size >= 3, `progress was seen at ${[...seen].join(', ')}`);
  const { bytes, total } = heardProgress(await log(name)) ?? {};
  equal(bytes, total);
  const pod = await read(name);
  equal(end(pod)?.exitCode, 0);
  const word = heardLastWord(end(pod)?.message);
  ok(word?.result === 'done');
  match(word.digest, /^sha256:[0-9a-f]{64}$/);
  equal(word.bytes, total);
});

test('the digest is that of the source, or the one that was asked for', async () => {
  const quick = { 'run-for': '100ms' };
  const asked = `sha256:${'1'.repeat(64)}`;
  const names = await Promise.all([
    download({ notes: quick }),
    download({ notes: quick }),
    download({ notes: quick, url: 'https://models.example/b' }),
    download({ notes: quick, digest: asked }),
  ]);
  const words = await Promise.all(names.map(async (name) => heardLastWord(end(await ended(name))?.message)));
  const [one, same, other, pinned] = words.map((word) => (word?.result === 'done' ? word.digest : ''));
  equal(one, same);
  ok(one !== other && one !== '');
  equal(pinned, asked);
});

test('what is asked for goes before: an end, words, a wait', async () => {
  const verdict = '{"result":"verdict","verdict":"SourceNotFound","message":"404"}';
  const failed = await ended(await download({ notes: { 'exit-code': '42', message: verdict } }));
  deepEqual([end(failed)?.exitCode, end(failed)?.message], [42, verdict]);
  const blocked = await download({ notes: { fault: 'config-error', message: 'secret "x" not found' } });
  const { status } = await eventually(
    () => read(blocked),
    (pod) => pod.status.containerStatuses?.[0]?.state.waiting?.reason === 'CreateContainerConfigError',
  );
  equal(status.containerStatuses?.[0]?.state.waiting?.message, 'secret "x" not found');
});

test('annotations that concern a container of another pod say nothing about this one', async () => {
  const pod = await ended(await download({ notes: { container: 'server', fault: 'crash', message: 'boom' } }));
  equal(end(pod)?.exitCode, 0);
  equal(heardLastWord(end(pod)?.message)?.result, 'done');
});
