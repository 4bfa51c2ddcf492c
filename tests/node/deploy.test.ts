// The operator as users install it: `make deploy` of the built image brings it up as a pod of a namespace that enforces Pod
// Security `restricted`, with the generated roles and no others, and a model becomes Ready through it.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { type RealCluster, skipReason, startRealCluster } from '../../controlplane/node/index.ts';
import { MLModel } from '../../src/api/index.ts';
import { eventually } from '../kit/eventually.ts';
import { iris, irisModel, irisProbabilities } from '../kit/onnx/models.ts';
import { type Origin, serve, startOrigin } from '../kit/origin.ts';
import { must } from '../kit/rig.ts';
import { freshNamespace } from './pods.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const home = 'baton-system';

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

suite('the operator as a pod', { skip: await skipReason() }, () => {
  let cluster: RealCluster;
  let origin: Origin;
  let image: string;
  let namespace: string;
  before(async () => {
    cluster = await startRealCluster();
    image = `${cluster.registry}/baton:1`;
    await execute(process.execPath, ['tools/image.ts', `--push=${image}`, '--plain-http'], { cwd: root });
    const weights = irisModel();
    const { machineAddress: address } = cluster;
    origin = await startOrigin((request, response) => serve(request, response, weights), { address });
    namespace = await freshNamespace(cluster);
  });
  after(async () => {
    await origin?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  /** What `make` does for a verb, and what it says. */
  async function install(verb: string, ...args: string[]): Promise<string> {
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfigPath };
    const command = ['tools/install/main.ts', verb, '--context=baton', ...args];
    const { stdout } = await execute(process.execPath, command, { cwd: root, env, timeout: 180_000 });
    return stdout;
  }

  const inHome = (...args: string[]): Promise<string> => must(cluster, ['-n', home, ...args]);
  const inTeam = (args: string[], stdin?: string): Promise<string> => must(cluster, ['-n', namespace, ...args], stdin);

  /** The probabilities of one flower. */
  async function predicted(): Promise<number[]> {
    const port = await inTeam(['get', 'service', 'iris-expose', '-o', 'jsonpath={.spec.ports[0].nodePort}']);
    const host = cluster.nodes[0]?.address;
    const inputs = [{ name: 'measurements', datatype: 'FP32', shape: [1, 4], data: iris.flowers[0] }];
    const body = JSON.stringify({ inputs });
    const answer = await fetch(`http://${host}:${port}/v2/models/model/infer`, { method: 'POST', body });
    const { outputs } = (await answer.json()) as { outputs: { name: string; data: number[] }[] };
    return outputs.find(({ name }) => name === 'probabilities')?.data ?? [];
  }

  async function answersRight(): Promise<void> {
    const rounded = (values: readonly number[]) => values.map((value) => Number(value.toFixed(5)));
    deepEqual(rounded(await predicted()), rounded(irisProbabilities(iris.flowers[0] ?? [])));
  }

  /** The pod of the operator, once it is the only one. */
  const operatorPod = (): Promise<string> =>
    eventually(
      async () => {
        const [pod = '', ...others] = lines(await inHome('get', 'pods', '-o', 'name'));
        if (others.length > 0) throw new Error(`${others.join(', ')} is there, too`);
        return pod;
      },
      { within: 40_000, what: 'a single pod' },
    );

  /** Grants of the operator for the whole cluster. */
  const clusterBindings = async (): Promise<string[]> =>
    lines(await must(cluster, ['get', 'clusterrolebindings', '-o', 'name'])).filter((name) => name.endsWith('/baton'));

  /** The operator leads, lacked no right for it, and never started again. */
  async function fineSoFar(): Promise<void> {
    const log = await inHome('logs', await operatorPod());
    ok(log.includes('this process leads'), log);
    equal(/forbidden|needs attention/i.test(log), false, log);
    equal(await inHome('get', 'pods', '-o', 'jsonpath={.items[*].status.containerStatuses[*].restartCount}'), '0');
  }

  test('make deploy ends when the operator is ready, in a namespace that enforces restricted', async () => {
    match(await install('deploy', `--image=${image}`), /^The operator is running\.$/m);
    const ready = '{.items[*].status.conditions[?(@.type=="Ready")].status}';
    equal(await inHome('get', 'pods', '-o', `jsonpath=${ready}`), 'True');
    equal(await inHome('get', 'pods', '-o', 'jsonpath={.items[*].spec.serviceAccountName}'), 'baton');
    const careless = inHome('run', 'careless', `--image=${image}`, '--dry-run=server');
    await rejects(careless, /violates PodSecurity "restricted/);
  });

  test('a model becomes Ready through it and answers', async () => {
    const modelURL = `http://${origin.host}/iris.onnx`;
    const spec = { modelURL, storageSize: '64Mi', framework: 'onnx', expose: true };
    const object = { apiVersion: MLModel.apiVersion, kind: MLModel.kind, metadata: { name: 'iris' }, spec };
    await inTeam(['apply', '-f', '-'], JSON.stringify(object));
    await inTeam(['wait', '--for=condition=Ready', '--timeout=110s', 'mlm/iris']);
    // kube-proxy brings rules up to date once a second at most: until then a node refuses connections to a new port.
    await eventually(predicted, { within: 10_000, what: 'an answer outside of the cluster' });
    await answersRight();
  });

  test('it neither lacked a right nor started again', fineSoFar);

  test('make deploy with NAMESPACES takes the ClusterRole back, and Roles are enough', async () => {
    deepEqual(await clusterBindings(), ['clusterrolebinding.rbac.authorization.k8s.io/baton']);
    const said = await install('deploy', `--image=${image}`, `--namespaces=${namespace}`);
    match(said, /^The operator is running\.\nRemoved, as it is not needed any more:$/m);
    deepEqual(await clusterBindings(), []);
    await inTeam(['scale', 'mlm/iris', '--replicas=2']);
    await inTeam(['wait', '--for=jsonpath={.status.replicas}=2', '--timeout=60s', 'mlm/iris']);
    await inTeam(['wait', '--for=condition=Ready', '--timeout=60s', 'mlm/iris']);
    await fineSoFar();
  });

  test('network policies are taken by the API server (the network of our node does not enforce any)', async () => {
    deepEqual(lines(await inHome('get', 'networkpolicies', '-o', 'name')), [
      'networkpolicy.networking.k8s.io/baton',
      'networkpolicy.networking.k8s.io/default-deny',
    ]);
    await inTeam(['apply', '-f', join(root, 'deploy/network')]);
    const server = 'baton.dev/kind=MLModel,app.kubernetes.io/component in (server)';
    equal(lines(await inTeam(['get', 'pods', '-l', server, '-o', 'name'])).length, 2);
  });

  test('make undeploy takes the operator and its rights away, and the model goes on answering', async () => {
    await install('undeploy');
    equal(await inHome('get', 'deployments,networkpolicies,rolebindings', '-o', 'name'), '');
    deepEqual(await clusterBindings(), []);
    await answersRight();
  });
});
