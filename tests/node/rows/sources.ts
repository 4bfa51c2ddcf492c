// Rows 3 and 4: servers that let nobody in, whom nobody should believe, and that break off or drip.

import { ok } from 'node:assert/strict';
import { MLModel } from '../../../src/api/index.ts';
import { Secret } from '../../../src/objects/index.ts';
import type { Row, Scene } from '../../faults/rows/scene.ts';
import { irisModel } from '../../kit/onnx/models.ts';
import { serve } from '../../kit/origin.ts';
import { makeAuthority } from '../../kit/scripted-peer.ts';
import { type Answer, type Ground, startWeb } from '../ground.ts';
import { heavyIris } from '../iris.ts';
import { type Bad, badRow } from './bad.ts';

/** A Secret of the namespace. */
const secret = ({ rig, namespace }: Scene, name: string, stringData: Record<string, string>) =>
  rig.apply(Secret, { metadata: { namespace, name }, stringData });

const canary = 'canary-token-7d20';

/** Lets in whoever has the token. */
const guarded =
  (status: number): Answer =>
  (request, response) => {
    if (request.headers.authorization === `Bearer ${canary}`)
      return serve(request, response, irisModel(), { etag: '"1"' });
    response.writeHead(status).end();
  };

function closedDoors({ web }: Ground): Bad[] {
  const withToken = (path: string) => async (scene: Scene) => {
    await secret(scene, 'token', { token: canary });
    return { modelURL: `http://${web.host}${path}`, credentials: 'token' };
  };
  return [
    {
      what: '401',
      own: () => ({ modelURL: web.put('/401', guarded(401)) }),
      reason: 'SourceUnauthorized',
      words: /answered 401.*; check the Secret that credentials names/,
      mend: withToken('/401'),
    },
    {
      what: '403 to a wrong token',
      own: async (scene) => {
        await secret(scene, 'wrong', { token: 'canary-wrong-token' });
        return { modelURL: web.put('/403', guarded(403)), credentials: 'wrong' };
      },
      reason: 'SourceUnauthorized',
      words: /answered 403.*; check the Secret that credentials names/,
    },
    {
      what: '404',
      own: () => ({ modelURL: `http://${web.host}/404` }),
      reason: 'SourceNotFound',
      words: /answered 404 Not Found; check modelURL/,
      mend: () => ({ modelURL: web.put('/404', irisModel()) }),
    },
    {
      what: 'no TLS at all',
      own: () => ({ modelURL: `https://${web.host}/iris.onnx` }),
      reason: 'SourceTLSError',
      words: /it does not speak TLS; write http:\/\/ in modelURL/,
    },
  ];
}

async function strangers({ cluster, things }: Ground): Promise<Bad[]> {
  const address = cluster.machineAddress;
  const day = 24 * 3600 * 1000;
  const [authority, old] = [makeAuthority(Date.now()), makeAuthority(Date.now() - 90 * day)];
  const open = async (by: typeof authority) => {
    const { certificate: cert, key } = by.issue({ name: 'weights', addresses: [address] });
    return things.use(await startWeb(address, { cert, key })).put('/iris.onnx', irisModel());
  };
  const [unknown, expired] = [await open(authority), await open(old)];
  return [
    {
      what: 'an unknown authority',
      own: () => ({ modelURL: unknown }),
      reason: 'SourceTLSError',
      words: /unknown authority; put it into ca\.crt/,
      mend: async (scene) => {
        await secret(scene, 'authority', { 'ca.crt': authority.certificate });
        return { modelURL: unknown, credentials: 'authority' };
      },
    },
    {
      what: 'an expired certificate',
      own: async (scene) => {
        await secret(scene, 'old', { 'ca.crt': old.certificate });
        return { modelURL: expired, credentials: 'old' };
      },
      reason: 'SourceTLSError',
      words: /has expired/,
    },
  ];
}

const untold: Row['play'] = async ({ rig, namespace }) => {
  const models = JSON.stringify(await rig.list(MLModel, namespace));
  ok(!/canary-(token|wrong)/.test(models), 'no token is in a status');
};

const doors = (ground: () => Ground): Row => ({
  name: '3: a source that refuses, is not there or cannot be trusted is told with its code; the old model answers, and a Secret or a file mends it',
  async play(scene) {
    const bads = [...closedDoors(ground()), ...(await strangers(ground()))];
    await badRow('', ground, () => bads).play(scene);
    await untold(scene);
  },
});

const heavy = heavyIris(6);

/** Breaks off after 63 in 100 bytes of every answer. */
const breaking =
  (ranges: { ranges?: 'no' }): Answer =>
  (request, response) => {
    const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const asked = ranges.ranges === 'no' ? heavy.length : (Number(to) || heavy.length - 1) + 1 - Number(from);
    serve(request, response, heavy, { etag: '"1"', ...ranges, ...(asked > 1_000 && { cutAfter: asked * 0.63 }) });
  };

const broken = (ground: () => Ground): Row => ({
  name: '4: a download that is cut each time goes on where it was; without ranges it begins anew; one byte at a time is too slow',
  async play(scene) {
    const { web } = ground();
    await scene.model({ modelURL: web.put('/cut.onnx', breaking({})) });
    await scene.ready();
    ok(web.asked('/cut.onnx') > 3, 'it was cut');
    const starts = web.requests.filter(({ path }) => path === '/cut.onnx').map(({ headers }) => headers.range ?? 'all');
    ok(starts.filter((range) => /^(all|bytes=0-)/.test(range)).length <= 2, `and resumed: ${starts.join(' ')}`);
    let whole = 0;
    const later: Answer = (request, response) =>
      ++whole < 3
        ? breaking({ ranges: 'no' })(request, response)
        : serve(request, response, heavy, { etag: '"1"', ranges: 'no' });
    await scene.model({ modelURL: web.put('/whole.onnx', later) });
    await scene.ready();
    await badRow('', ground, () => [tooSlow(ground())]).play(scene);
  },
});

/** Ten bytes a second: the verdict falls after a minute. */
const tooSlow = ({ web }: Ground): Bad => ({
  what: 'ten bytes a second',
  own: () => ({ modelURL: web.put('/drip.onnx', drip) }),
  reason: 'SourceTooSlow',
  words: /^\d+ bytes came in 60 s of waiting; 10240 a second are the least/,
  async also({ witness, name }) {
    const counts = witness.of(MLModel).flatMap(({ object }) => {
      const { bytes, total } = object.metadata.name === name ? (object.status?.download ?? {}) : {};
      return total === heavy.length ? [bytes ?? 0] : [];
    });
    ok(
      counts.some((bytes) => bytes > 0 && bytes < 2_000),
      'how far it was could be seen',
    );
  },
  mend: () => ({ modelURL: web.put('/drip.onnx', heavy) }),
});

const drip: Answer = (_request, response) => {
  response.writeHead(200, { 'content-length': heavy.length, etag: '"1"' });
  let at = 0;
  const dripping = setInterval(() => response.write(heavy.subarray(at, (at += 10))), 1_000);
  response.on('close', () => clearInterval(dripping));
};

export const sourceRows = (ground: () => Ground): Row[] => [doors(ground), broken(ground)];
