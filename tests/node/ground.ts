// Where the rows of bad inputs and the causes of failure play on a real node: the product with its operator behind the
// recording proxy, our image, a model as an image, and a web server of the test whose answers can be changed at any time.

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RealCluster, type RealOptions, startRealCluster } from '../../controlplane/node/index.ts';
import { pusherTo } from '../kit/images.ts';
import type { MainOptions } from '../kit/main.ts';
import { irisModel } from '../kit/onnx/models.ts';
import { type Origin, serve, startOrigin } from '../kit/origin.ts';
import { startRegistry, type TestRegistry } from '../kit/registry.ts';
import { kindsOf, product, type Rig, rigOn } from '../kit/rig.ts';
import { pushProbe } from './pods.ts';
import { pushStrange, type StrangeImages } from './strange.ts';

export interface Ground extends AsyncDisposable, StrangeImages {
  cluster: RealCluster;
  rig: Rig;
  web: Web;
  /** How an operator is started here. */
  operatorOptions: Partial<MainOptions>;
  /** The image of our programs, and that of the program which does what pods of tests do. */
  image: string;
  probe: string;
  /** A registry that wants to know who asks, by HTTP without TLS. */
  closed: TestRegistry;
  /** A model that nodes mount: neither claim nor download stands before its servers. */
  mounted: { modelURL: string; framework: 'onnx' };
  /** What ends with the ground. */
  things: AsyncDisposableStack;
}

/** What is done with a request for one file. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server. */
export interface Web extends Origin {
  /** Lays a file, or what is done in its place, and tells its URL. */
  put(path: string, content: Buffer | Answer): string;
  /** How often a path was asked for. */
  asked(path: string): number;
}

const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** Makes everything but the operator. */
export async function openGround(options: RealOptions = {}): Promise<Ground> {
  const things = new AsyncDisposableStack();
  try {
    const cluster = await startRealCluster({ ...options, kinds: kindsOf(product) });
    things.defer(() => cluster.stop());
    const [image, rig, web, pusher] = await Promise.all([
      pushOurs(cluster),
      rigOn(cluster, product, restricted),
      startWeb(cluster.machineAddress),
      pusherTo(cluster.registry),
    ]);
    things.defer(() => rig.stop());
    things.use(web);
    things.use(pusher);
    await pusher.push('models/iris:1', 'plain', irisModel());
    const closed = things.use(await startRegistry({ open: false, address: cluster.machineAddress }));
    pullPlainly(cluster, closed.host);
    return {
      cluster,
      rig,
      web,
      image,
      probe: await pushProbe(cluster),
      ...(await pushStrange(cluster)),
      closed,
      mounted: { modelURL: `oci://${cluster.registry}/models/iris:1`, framework: 'onnx' },
      operatorOptions: { image, plainRegistries: [cluster.registry] },
      things,
      [Symbol.asyncDispose]: () => things.disposeAsync(),
    };
  } catch (error) {
    await things.disposeAsync();
    throw error;
  }
}

async function pushOurs({ registry }: RealCluster): Promise<string> {
  const image = `${registry}/baton:1`;
  const root = join(import.meta.dirname, '../..');
  await promisify(execFile)(process.execPath, ['tools/image.ts', `--push=${image}`, '--plain-http'], { cwd: root });
  return image;
}

/** Starts a web server that knows no file yet. */
export async function startWeb(address: string, tls?: { cert: string; key: string }): Promise<Web> {
  const answers = new Map<string, Answer>();
  const notFound: Answer = (_request, response) => void response.writeHead(404).end();
  const origin = await startOrigin(
    (request, response) => (answers.get(request.url ?? '') ?? notFound)(request, response),
    { address, ...(tls && { tls }) },
  );
  return Object.assign(origin, {
    put(path: string, content: Buffer | Answer): string {
      const file: Answer = (request, response) => serve(request, response, content as Buffer, { etag: '"1"' });
      answers.set(path, Buffer.isBuffer(content) ? file : content);
      return `${tls ? 'https' : 'http'}://${origin.host}${path}`;
    },
    asked: (path: string) => origin.requests.filter((one) => one.path === path).length,
  });
}

/** Lets the nodes of a cluster speak to one more registry without TLS. */
export function pullPlainly({ folder, nodes }: RealCluster, host: string): void {
  for (const { name } of nodes) {
    const place = join(folder, 'nodes', name, 'registries', host);
    mkdirSync(place, { recursive: true });
    writeFileSync(
      join(place, 'hosts.toml'),
      `server = "http://${host}"\n[host."http://${host}"]\n  capabilities = ["pull", "resolve"]\n`,
    );
  }
}
