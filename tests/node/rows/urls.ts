// Rows 1 and 2: URLs that would be more than a URL to a shell, a kubelet or a careless program, and URLs that lead to where
// nobody may go.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { Secret } from '../../../src/objects/index.ts';
import type { Row, Scene } from '../../faults/rows/scene.ts';
import { irisModel } from '../../kit/onnx/models.ts';
import type { Origin } from '../../kit/origin.ts';
import type { Ground } from '../ground.ts';
import { type Bad, badRow, eventsOf } from './bad.ts';
import { makePod } from '../pods.ts';
import { packetsCounted } from './packets.ts';

const noURLs = [
  'http://models.example/a\nb',
  'http://models.example/a\u0000b',
  'http://models.example/a b',
  'http://models.example/modèle',
  '-rf',
  '--output=/etc/passwd',
  '; id',
  `http://models.example/${'a'.repeat(65_536)}`,
  'file:///etc/passwd',
  'gopher://models.example/1',
  'http://bob:hunter2@models.example/m',
];

/** A shell, a kubelet that knows variables, or a parser of options would make something else of these. */
const oddPaths = ['/$(KUBERNETES_SERVICE_HOST)', '/$$(HOME)$$', '/;`id`\'|&>x"', '/--output=x'];

const oddPath = ({ web }: Ground, path: string): Bad => ({
  what: path,
  own: () => ({ modelURL: `http://${web.host}${path}` }),
  reason: 'SourceNotFound',
  words: /answered 404 Not Found; check modelURL/,
  also: () => ok(asked(web, path), `it asked for ${JSON.stringify(web.requests.map((one) => one.path))}`),
});

const asked = ({ requests }: Origin, path: string): boolean => requests.some((one) => decodeURI(one.path) === path);

const odd = (ground: () => Ground): Row => {
  const row = badRow('', ground, () => {
    const bads = oddPaths.map((path) => oddPath(ground(), path));
    const { web } = ground();
    const mend = () => ({ modelURL: web.put('/;$(id)', irisModel()) });
    return [...bads, { ...oddPath(ground(), '/;$(id)'), mend }];
  });
  return {
    name: '1: a modelURL that is none is refused with its field; what looks like a command is data, and ends as a file or as none',
    async play(scene) {
      for (const modelURL of noURLs) await rejects(scene.model({ modelURL }), /spec\.modelURL/, modelURL.slice(0, 80));
      await row.play(scene);
    },
  };
};

/** Addresses that are never reached, in forms that take another way each; tests of the program have all the others. */
const nowhere = [
  'http://169.254.169.254/latest/meta-data/secret-path',
  'http://127.0.0.1:8080/secret-path',
  'http://[::ffff:169.254.169.254]/secret-path',
  'http://half.example/secret-path',
  'https://kubernetes.default.svc/secret-path',
  'oci://169.254.169.254/secret-path:1',
  's3://models/secret-path',
];

const denied = (what: string, own: Bad['own']): Bad => ({
  what,
  own,
  reason: 'EgressDenied',
  words: /^(?!.*secret-path)/,
  async also(scene) {
    const events = (await eventsOf(scene)).filter((one) => one.includes('EgressDenied'));
    ok(events.length > 0, 'it is told by an Event');
    deepEqual(
      events.filter((one) => !one.startsWith('Warning') || one.includes('secret-path')),
      [],
      'which names the host alone',
    );
  },
});

/** Where nobody may go is not gone to, neither by the download nor by the operator, straight or by a redirect. */
const forbidden = (ground: () => Ground, canary: () => Origin): Row => {
  const row = badRow('', ground, () => {
    const { web } = ground();
    const away = (path: string, location: string) =>
      web.put(path, (_, response) => void response.writeHead(302, { location }).end());
    return [
      ...nowhere.map((modelURL) => denied(modelURL, (scene) => withEndpoint(scene, modelURL))),
      ...[`http://${canary().host}/secret-path`, `oci://${canary().host}/secret-path:1`].map((modelURL) =>
        denied(modelURL, () => ({ modelURL })),
      ),
      denied('a redirect to the services of a cloud', () => ({
        modelURL: away('/away', 'http://169.254.169.254/secret-path'),
      })),
      denied('a redirect to what is denied here', () => ({
        modelURL: away('/near', `http://${canary().host}/secret-path`),
      })),
    ];
  });
  return {
    name: '2: an address that nobody may reach is denied by whatever way it is named, and no connection reaches it',
    async play(scene) {
      await row.play(scene);
      equal(canary().connections(), 0);
      equal(await packetsCounted(ground()), 0);
      await wouldBeSeen(ground(), scene, canary());
    },
  };
};

/** A pod that goes there is seen to do so, by the canary and by the count. */
async function wouldBeSeen(ground: Ground, scene: Scene, canary: Origin): Promise<void> {
  const { cluster, probe: image } = ground;
  const targets = [`http://${canary.host}/`, 'http://169.254.169.254/'];
  for (const [index, url] of targets.entries())
    await makePod(cluster, scene.namespace, { name: `goes-${index}`, does: ['get', url], image });
  await scene.eventually(async () => canary.connections() > 0 && (await packetsCounted(ground)) > 0, 'both are seen');
}

/** A bucket is wherever the Secret says. */
async function withEndpoint({ rig, namespace }: Scene, modelURL: string): Promise<object> {
  if (!modelURL.startsWith('s3://')) return { modelURL };
  const endpoint = 'http://169.254.169.254';
  await rig.apply(Secret, { metadata: { namespace, name: 'bucket' }, stringData: { endpoint } });
  return { modelURL, credentials: 'bucket' };
}

export const urlRows = (ground: () => Ground, canary: () => Origin): Row[] => [odd(ground), forbidden(ground, canary)];
