// The product on a real node: our image in the cluster's registry, the kinds installed, operators beside it, and a model as
// a user sees it. What stories on real nodes have in common.

import { deepEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RealCluster, type RealOptions, startRealCluster } from '../../controlplane/node/index.ts';
import { MLModel, type ModelDeployment } from '../../src/api/index.ts';
import { conditionOf, type Kind, type Service } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { kindsOf, must, product } from '../kit/rig.ts';
import { call } from './pods.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');

export interface Stage extends AsyncDisposable {
  cluster: RealCluster;
  /** Our image. */
  image: string;
}

/** Starts a cluster with everything but an operator. */
export async function openStage(options: RealOptions = {}): Promise<Stage> {
  const cluster = await startRealCluster({ ...options, kinds: kindsOf(product) });
  try {
    const image = `${cluster.registry}/baton:1`;
    await execute(process.execPath, ['tools/image.ts', `--push=${image}`, '--plain-http'], { cwd: root });
    await must(cluster, ['create', 'namespace', 'baton-system']);
    await must(cluster, ['-n', 'baton-system', 'create', 'serviceaccount', 'baton']);
    await must(cluster, ['apply', '-f', join(root, 'deploy/rbac')]);
    return { cluster, image, [Symbol.asyncDispose]: () => cluster.stop() };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Whether somebody takes a connection there. */
const isOpen = (door: { host: string; port: number }): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(door);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const doorName = 'door';

/** A way in that a user makes to servers that the product does not expose, by the selector that it tells. */
const ownDoor = (selector: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: doorName },
  spec: {
    type: 'NodePort',
    selector: Object.fromEntries(selector.split(',').map((term) => term.split('='))),
    ports: [{ port: 80, targetPort: 'http' }],
  },
});

/** How many servers answer, as the status tells. */
function answering({ status }: UserKind): number | undefined {
  if (!status) return undefined;
  return 'availableReplicas' in status ? status.availableReplicas : (status as MLModel['status'])?.readyReplicas;
}

/** What a user may have served. */
export type UserKind = MLModel | ModelDeployment;

/** One model in a namespace, in the hands of a user; of whichever kind serves it. */
export class UserModel<P extends UserKind = MLModel> {
  readonly #cluster: RealCluster;
  readonly #kind: Kind<P>;
  readonly namespace: string;
  readonly name = 'model';
  #before: string[] | undefined;

  constructor(cluster: RealCluster, namespace: string, kind = MLModel as unknown as Kind<P>) {
    this.#cluster = cluster;
    this.#kind = kind;
    this.namespace = namespace;
  }

  /** Creates or edits it. */
  async apply(spec: object): Promise<void> {
    const { namespace, name } = this;
    this.#before ??= await this.#everything();
    const { apiVersion, kind } = this.#kind;
    const object = { apiVersion, kind, metadata: { name, namespace }, spec };
    await must(this.#cluster, ['apply', '-f', '-'], JSON.stringify(object));
  }

  get(): Promise<P> {
    const { apiVersion, plural } = this.#kind;
    const path = `/apis/${apiVersion}/namespaces/${this.namespace}/${plural}/${this.name}`;
    return call<P>(this.#cluster, 'GET', path);
  }

  /** Waits until it is Ready as it is asked for now, with all its servers. */
  ready(within = 180_000): Promise<P> {
    return eventually(
      async () => {
        const model = await this.get();
        const { status, observedGeneration } = conditionOf(model.status, 'Ready') ?? {};
        const whole = answering(model) === model.spec.replicas;
        if (status === 'True' && observedGeneration === model.metadata.generation && whole) return model;
        throw new Error(JSON.stringify(model.status));
      },
      { within, every: 100, what: 'the model becomes Ready' },
    );
  }

  /** Where it answers from outside. The node opens a new door up to a second after the servers are ready: it is waited for. */
  async door(): Promise<{ host: string; port: number }> {
    const services = `/api/v1/namespaces/${this.namespace}/services`;
    const { status } = await this.get();
    const { spec } =
      this.#kind.kind === MLModel.kind
        ? await call<Service>(this.#cluster, 'GET', `${services}/${this.name}-expose`)
        : await call<Service>(this.#cluster, 'POST', services, ownDoor(status?.selector ?? ''));
    const [port] = spec.ports as { nodePort: number }[];
    const door = { host: this.#cluster.nodes[0]?.address ?? '', port: port?.nodePort ?? 0 };
    await eventually(() => isOpen(door), { within: 10_000, what: `the node opens ${door.host}:${door.port}` });
    return door;
  }

  /** The names of what there is of some kinds. */
  async has(kinds: string): Promise<string[]> {
    const found = await must(this.#cluster, ['-n', this.namespace, 'get', kinds, '-o', 'name']);
    return found.split('\n').filter((line) => line !== '');
  }

  /** All that can be read about some kinds. */
  shows(kinds: string): Promise<string> {
    return must(this.#cluster, ['-n', this.namespace, 'get', kinds, '-o', 'json']);
  }

  /** The addresses of its pods. */
  async addresses(): Promise<string[]> {
    const found = await must(this.#cluster, [
      '-n',
      this.namespace,
      'get',
      'pods',
      '-o',
      'jsonpath={.items[*].status.podIP}',
    ]);
    return found.split(' ').filter((address) => address !== '');
  }

  /** The volumes that claims of it were bound to, and that are still there. */
  async volumes(): Promise<string[]> {
    const path = '{range .items[*]}{.spec.claimRef.namespace}/{.metadata.name}{"\\n"}{end}';
    const found = await must(this.#cluster, ['get', 'persistentvolumes', '-o', `jsonpath=${path}`]);
    return found.split('\n').filter((line) => line.startsWith(`${this.namespace}/`));
  }

  /** The names of all that is in its namespace, of whatever kind, but for events. */
  async #everything(): Promise<string[]> {
    const listed = await must(this.#cluster, ['api-resources', '--namespaced', '--verbs=list', '-o', 'name']);
    const kinds = listed.split('\n').filter((kind) => kind !== '' && !kind.startsWith('events'));
    return (await this.has(kinds.join(','))).toSorted();
  }

  /** Deletes it, and waits until nothing is left: all is as before it was created. */
  async delete(): Promise<void> {
    await must(this.#cluster, ['-n', this.namespace, 'delete', this.#kind.plural, this.name]);
    await must(this.#cluster, ['-n', this.namespace, 'delete', 'service', doorName, '--ignore-not-found']);
    const kinds = 'baton,deployments,replicasets,pods,services,endpointslices,jobs,pvc,controllerrevisions,pdb,hpa';
    await eventually(
      async () => {
        const left = [...(await this.has(kinds)), ...(await this.volumes())];
        if (left.length === 0) return true;
        throw new Error(left.join(' '));
      },
      { within: 120_000, every: 250, what: 'nothing is left' },
    );
    deepEqual(await this.#everything(), this.#before);
  }
}
