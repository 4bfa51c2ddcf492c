// Images and artifacts of every sort, with one file `model.onnx` in them, and the way into a registry. Each has content of
// its own: a node that has seen a layer before would mount what it should not be able to.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/index.ts';
import {
  buildLayer,
  type Credential,
  type Descriptor,
  Layout,
  mediaType,
  pushBlob,
  pushManifest,
  referenceOf,
  Registry,
} from '../../src/oci/index.ts';

/** How a sort is made. */
interface Recipe {
  config: string;
  layer: string;
  /** `raw`: the file itself in place of an archive. */
  form: 'tar' | 'tar+gzip' | 'raw';
  /** What the config says about the layers. */
  body: 'image' | 'model' | 'empty';
  artifactType?: string;
}

const file = 'model.onnx';
const model = 'application/vnd.example.model';
const tar = { layer: mediaType.layer, form: 'tar' } as const;

const recipes = {
  image: { config: mediaType.config, layer: mediaType.layerGzip, form: 'tar+gzip', body: 'image' },
  plain: { config: mediaType.config, ...tar, body: 'image' },
  typed: { config: mediaType.config, ...tar, body: 'image', artifactType: `${model}.v1` },
  /** Raw files with an empty config, as ORAS pushes them. */
  artifact: { config: mediaType.empty, layer: 'application/octet-stream', form: 'raw', body: 'empty' },
  /** A config and layers of model types. */
  modelSpec: { config: `${model}.config.v1+json`, layer: `${model}.weight.v1.tar`, form: 'tar', body: 'model' },
  emptyConfig: { config: mediaType.empty, ...tar, body: 'empty' },
  modelLayers: { config: mediaType.config, layer: `${model}.weight.v1.tar`, form: 'tar', body: 'image' },
  modelConfig: { config: `${model}.config.v1+json`, ...tar, body: 'image' },
} as const satisfies Record<string, Recipe>;

/** A sort of image; `index` is an image for two platforms. */
export type Sort = keyof typeof recipes | 'index';

/** Every sort. */
export const sorts: readonly Sort[] = [...(Object.keys(recipes) as (keyof typeof recipes)[]), 'index'];

/** A way into a registry that speaks plain HTTP. */
export interface Pusher extends AsyncDisposable {
  /** Puts something under `repository:tag` and tells its digest; without a content it is another one every time. */
  push(name: string, sort?: Sort, content?: Buffer): Promise<string>;
}

/** Opens a way into a registry. */
export async function pusherTo(host: string, credential?: Credential): Promise<Pusher> {
  const folder = mkdtempSync(join(tmpdir(), 'images-'));
  const layout = await Layout.make(folder);
  const credentials = () => credential;
  const registry = new Registry({ clock: systemClock, random: Math.random, plainHttp: [host], credentials });
  let pushes = 0;
  return {
    push: (name, sort = 'image', content = Buffer.from(`${name} ${++pushes}`)) =>
      new Push(registry, layout, `${host}/${name}`).run(sort, content),
    async [Symbol.asyncDispose]() {
      await registry.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

class Push {
  readonly #registry: Registry;
  readonly #layout: Layout;
  readonly #name: string;

  constructor(registry: Registry, layout: Layout, name: string) {
    this.#registry = registry;
    this.#layout = layout;
    this.#name = name;
  }

  async run(sort: Sort, content: Buffer): Promise<string> {
    const manifest = await this.#manifest(recipes[sort === 'index' ? 'image' : sort], content);
    if (sort !== 'index') return (await this.#put(this.#name, manifest, mediaType.manifest)).digest;
    const inner = await this.#put(`${this.#name}-one`, manifest, mediaType.manifest);
    const manifests = ['amd64', 'arm64'].map((architecture) => ({ ...inner, platform: { os: 'linux', architecture } }));
    const index = { schemaVersion: 2, mediaType: mediaType.index, manifests };
    return (await this.#put(this.#name, index, mediaType.index)).digest;
  }

  async #manifest(recipe: Recipe, content: Buffer): Promise<object> {
    const { layer, diffId } = await this.#layer(recipe, content);
    const bodies = {
      image: { os: 'linux', architecture: 'amd64', config: {}, rootfs: { type: 'layers', diff_ids: [diffId] } },
      model: { descriptor: { name: 'model' }, modelfs: { type: 'layers', diffIds: [diffId] } },
      empty: {},
    };
    const body = Buffer.from(JSON.stringify(bodies[recipe.body]));
    const config = await this.#layout.writeBytes(body, recipe.config);
    for (const blob of [config, layer])
      await pushBlob(this.#registry, referenceOf(this.#name), this.#layout.source(blob));
    const { artifactType } = recipe;
    const type = artifactType === undefined ? {} : { artifactType };
    return { schemaVersion: 2, mediaType: mediaType.manifest, ...type, config, layers: [layer] };
  }

  async #layer({ layer: type, form }: Recipe, content: Buffer): Promise<{ layer: Descriptor; diffId: string }> {
    if (form === 'raw') {
      const layer = await this.#layout.writeBytes(content, type);
      const annotations = { 'org.opencontainers.image.title': file };
      return { layer: { ...layer, annotations }, diffId: layer.digest };
    }
    const files = [{ path: file, type: 'file', mode: 0o644, content }] as const;
    const compression = form === 'tar' ? 'none' : 'gzip';
    const { descriptor, diffId } = await buildLayer(this.#layout, files, { compression });
    return { layer: { ...descriptor, mediaType: type }, diffId };
  }

  #put(name: string, document: object, type: string): Promise<Descriptor> {
    const bytes = Buffer.from(JSON.stringify(document));
    return pushManifest(this.#registry, referenceOf(name), { bytes, mediaType: type });
  }
}
