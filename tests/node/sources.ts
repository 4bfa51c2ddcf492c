// Where the model of a story comes from: a web server, a bucket, and a registry in both ways. Each lays a file where the
// product can fetch it, and where the way there is cut, has the way's own log.

import { createHash } from 'node:crypto';
import { ok } from 'node:assert/strict';
import type { RealCluster } from '../../controlplane/node/index.ts';
import { pusherTo } from '../kit/images.ts';
import { serve, startOrigin } from '../kit/origin.ts';
import { putObject } from '../kit/s3.ts';
import { type Front, startFront } from './front.ts';

/** A model at a source. */
export interface Laid {
  url: string;
  /** What the status should say. */
  digest: string;
}

export interface Source {
  weightsPath: 'Claim' | 'ImageVolume';
  /** The registry without TLS that the operator must know. */
  registry?: string;
  /** More fields of the model. */
  spec: object;
  /** The keys of its Secret. */
  secret?: Record<string, string>;
  /** The way there, if it is cut. */
  front?: Front;
  lay(name: string, content: Buffer): Promise<Laid>;
}

export type OpenSource = (cluster: RealCluster, open: AsyncDisposableStack) => Promise<Source>;

const mebibyte = 1024 ** 2;
const cuts = [60 * mebibyte, 140 * mebibyte];
const storageSize = '1Gi';

const sha256 = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

const cutWay = async ({ machineAddress: address }: RealCluster, open: AsyncDisposableStack, upstream: string) =>
  open.use(await startFront({ address, upstream, cuts }));

const web: OpenSource = async (cluster, open) => {
  const files = new Map<string, { content: Buffer; etag: string }>();
  const origin = await startOrigin((request, response) => {
    const file = files.get(request.url ?? '');
    if (file) serve(request, response, file.content, { etag: file.etag });
    else response.writeHead(404).end();
  });
  open.use(origin);
  const front = await cutWay(cluster, open, origin.host);
  return {
    weightsPath: 'Claim',
    spec: { storageSize },
    front,
    async lay(name, content) {
      const digest = sha256(content);
      files.set(`/${name}.onnx`, { content, etag: `"${digest}"` });
      return { url: `http://${front.host}/${name}.onnx`, digest };
    },
  };
};

const bucket: OpenSource = async (cluster, open) => {
  ok(cluster.s3, 'the cluster has no S3 server');
  const { endpoint, region, accessKeyId: accessKeyID, secretAccessKey } = cluster.s3;
  const front = await cutWay(cluster, open, new URL(endpoint).host);
  const who = { accessKeyID, secretAccessKey, region };
  await putObject(`${endpoint}/models`, undefined, who);
  return {
    weightsPath: 'Claim',
    spec: { storageSize, credentials: 'source' },
    secret: { accessKeyID, secretAccessKey, region, endpoint: `http://${front.host}` },
    front,
    async lay(name, content) {
      await putObject(`${endpoint}/models/${name}.onnx`, content, who);
      return { url: `s3://models/${name}.onnx`, digest: sha256(content) };
    },
  };
};

const mounted: OpenSource = async (cluster, open) => {
  const pusher = open.use(await pusherTo(cluster.registry));
  return {
    weightsPath: 'ImageVolume',
    registry: cluster.registry,
    spec: {},
    async lay(name, content) {
      const digest = await pusher.push(`mounted/${name}:1`, 'plain', content);
      return { url: `oci://${cluster.registry}/mounted/${name}:1`, digest };
    },
  };
};

/** What no node can mount: layers of an image without an image's config. */
const pulled: OpenSource = async (cluster, open) => {
  const pusher = open.use(await pusherTo(cluster.registry));
  const front = await cutWay(cluster, open, cluster.registry);
  return {
    weightsPath: 'Claim',
    registry: front.host,
    spec: {},
    front,
    async lay(name, content) {
      const digest = await pusher.push(`pulled/${name}:1`, 'emptyConfig', content);
      return { url: `oci://${front.host}/pulled/${name}:1`, digest };
    },
  };
};

/** The four, by what they are called in a story. */
export const sources: Readonly<Record<string, OpenSource>> = {
  'http://': web,
  's3://': bucket,
  'oci:// as an image volume': mounted,
  'oci:// as a download': pulled,
};

/** Opens all four. */
export async function openAll(cluster: RealCluster, open: AsyncDisposableStack): Promise<Record<string, Source>> {
  const opened: Record<string, Source> = {};
  for (const [name, openOne] of Object.entries(sources)) opened[name] = await openOne(cluster, open);
  return opened;
}
