// Rows 5 and 6: sources that answer with something else than what is wanted, and archives that mean harm.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PersistentVolumeClaim, Secret } from '../../../src/objects/index.ts';
import type { Row, Scene } from '../../faults/rows/scene.ts';
import { tar, type TarEntry } from '../../kit/archives/tar.ts';
import { irisModel } from '../../kit/onnx/models.ts';
import { putObject } from '../../kit/s3.ts';
import type { Ground } from '../ground.ts';
import { type Bad, badRow } from './bad.ts';

const sha256 = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const other = `sha256:${'0'.repeat(64)}`;
const loginPage = Buffer.from('<!DOCTYPE html><html><body><form>Password</form></body></html>');

function notIt(ground: Ground): Bad[] {
  const { web } = ground;
  const url = web.put('/pinned.onnx', irisModel());
  const right = sha256(irisModel());
  return [
    {
      what: 'another digest',
      own: () => ({ modelURL: url, digest: other }),
      reason: 'ChecksumMismatch',
      words: new RegExp(`should be ${other}, and is ${right}; mend digest, or the source`),
      mend: () => ({ modelURL: url, digest: right }),
    },
    {
      what: 'nothing',
      own: () => ({ modelURL: web.put('/zero.onnx', Buffer.alloc(0)) }),
      reason: 'EmptySource',
      words: /zero\.onnx at .* is empty: 0 bytes/,
      mend: () => ({ modelURL: web.put('/zero.onnx', irisModel()) }),
    },
    {
      what: 'a page that asks for a password',
      own: () => ({
        modelURL: web.put('/login.onnx', (_, response) =>
          response.writeHead(200, { 'content-type': 'text/html' }).end(loginPage),
        ),
      }),
      reason: 'EmptySource',
      words: /web page/,
    },
    {
      what: 'a prefix with nothing below it',
      own: (scene) => inBucket(ground, scene, 's3://models/nothing/'),
      reason: 'EmptySource',
      words: /there is nothing below nothing\/ in the bucket/,
      mend: async (scene) => {
        const { endpoint, ...who } = s3Of(ground);
        await putObject(`${endpoint}/models/nothing/model.onnx`, irisModel(), who);
        return inBucket(ground, scene, 's3://models/nothing/');
      },
    },
  ];
}

function s3Of({ cluster: { s3 } }: Ground) {
  ok(s3, 'the cluster has no S3 server');
  const { endpoint, region, accessKeyId: accessKeyID, secretAccessKey } = s3;
  return { endpoint, region, accessKeyID, secretAccessKey };
}

async function inBucket(ground: Ground, { rig, namespace }: Scene, modelURL: string): Promise<object> {
  const keys = s3Of(ground);
  const { endpoint, ...who } = keys;
  await putObject(`${endpoint}/models`, undefined, who).catch(() => {}); // it may be there
  await rig.apply(Secret, { metadata: { namespace, name: 'bucket' }, stringData: keys });
  return { modelURL, credentials: 'bucket' };
}

const wrongContent = (ground: () => Ground): Row => ({
  name: '5: what is not what was asked for, or nothing, is named and not served; what came first is recorded and holds for all servers',
  async play(scene) {
    await badRow('', ground, () => notIt(ground())).play(scene);
    const { web } = ground();
    const modelURL = web.put('/first.onnx', irisModel());
    await scene.model({ modelURL });
    equal((await scene.ready()).status?.digest, sha256(irisModel()));
    const asked = web.asked('/first.onnx');
    web.put('/first.onnx', loginPage);
    await scene.model({ modelURL, replicas: 2 });
    equal((await scene.ready()).status?.digest, sha256(irisModel()));
    equal(web.asked('/first.onnx'), asked, 'a second server has the weights of the first');
  },
});

const model: TarEntry = { name: 'model.onnx', content: irisModel() };
const evil: [what: string, archive: () => Buffer, words: RegExp][] = [
  ['a way out', () => tar(model, { name: '../evil', content: 'x' }), /entry "?\.\.\/evil/],
  ['an absolute path', () => tar(model, { name: '/tmp/evil', content: 'x' }), /entry "?\/tmp\/evil/],
  ['a symbolic link', () => tar({ name: 'evil', type: '2', link: '/etc' }, model), /entry "?evil.*link/],
  ['a hard link', () => tar(model, { name: 'evil', type: '1', link: 'model.onnx' }), /entry "?evil.*link/],
  ['a device', () => tar(model, { name: 'evil', type: '3' }), /entry "?evil/],
  ['two of one name', () => tar(model, { ...model, name: 'MODEL.onnx' }), /entry "?MODEL\.onnx/],
  ['a bomb', () => gzipSync(tar(model, { name: 'evil', content: Buffer.alloc(100 * 1024 ** 2) })), /more than/],
];

const archives = (ground: () => Ground): Row => ({
  name: '6: an archive that leads out, links, repeats or swells is refused with its entry, and leaves nothing behind; a good one serves',
  async play(scene) {
    const { web } = ground();
    const bads = evil.map(
      ([what, archive, words], index): Bad => ({
        what,
        own: () => ({ modelURL: web.put(`/evil-${index}.tar`, archive()) }),
        reason: 'UnsafeArchive',
        words,
        also: () => nothingLeft(ground(), scene),
      }),
    );
    const good = { modelURL: web.put('/good.tar.gz', gzipSync(tar(model))) };
    const [last] = bads.slice(-1);
    await badRow('', ground, () => [...bads.slice(0, -1), ...(last ? [{ ...last, mend: () => good }] : [])]).play(
      scene,
    );
  },
});

/** On no volume of the row is anything of the archive, nor beside them. */
async function nothingLeft({ cluster }: Ground, scene: Scene): Promise<void> {
  const volumes = (await scene.own(PersistentVolumeClaim)).flatMap(({ spec }) => spec.volumeName ?? []);
  ok(volumes.length > 0);
  for (const { name } of cluster.nodes) {
    const place = join(cluster.folder, 'nodes', name, 'volumes');
    const names = [...readdirSync(place), ...volumes.flatMap((volume) => list(join(place, volume)))];
    deepEqual(
      names.filter((one) => /evil/i.test(one)),
      [],
    );
  }
}

const list = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' });

export const contentRows = (ground: () => Ground): Row[] => [wrongContent(ground), archives(ground)];
