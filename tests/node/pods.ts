// Pods of the tests on real nodes: restricted, with the probe program as their only image, and what came of them.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodePrograms, type RealCluster, type SmallImage, writeImage } from '../../controlplane/node/index.ts';
import { eventually } from '../kit/eventually.ts';

/** What is read of a pod. */
export interface Pod {
  metadata: { name: string; uid: string };
  spec: { nodeName?: string };
  status: {
    phase: string;
    podIP?: string;
    containerStatuses?: { restartCount: number; ready: boolean; state: State; lastState: State }[];
  };
}

interface State {
  waiting?: { reason: string; message?: string };
  terminated?: { reason: string; exitCode: number };
}

/** What a pod of a test is asked to do, and with what. */
export interface Wish {
  name: string;
  does: string[];
  image: string;
  labels?: Record<string, string>;
  volumes?: { at: string; volume: object }[];
  memory?: string;
  node?: string;
}

/** A pod that every profile of Pod Security lets through. */
export const podOf = ({ name, does, image, labels = {}, volumes = [], memory, node }: Wish): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    ...(node && { nodeSelector: { 'kubernetes.io/hostname': node } }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'probe',
        image,
        args: does,
        resources: { limits: memory ? { memory } : {} },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: volumes.map(({ at }, index) => ({ name: `volume-${index}`, mountPath: at })),
      },
    ],
    volumes: volumes.map(({ volume }, index) => ({ name: `volume-${index}`, ...volume })),
  },
});

/** Calls the API server as admin, and takes no failure for an answer. */
export async function call<T>(cluster: RealCluster, method: string, path: string, body?: object): Promise<T> {
  const answer = await cluster.request({ method, path, ...(body && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

let namespaces = 0;

/** A fresh namespace that enforces the restricted profile. */
export async function freshNamespace(cluster: RealCluster): Promise<string> {
  const name = `story-${++namespaces}`;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await call(cluster, 'POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await eventually(async () => (await cluster.request({ path: account })).status === 200, { what: 'an account' });
  return name;
}

/** Makes a claim called `data` and gives it as the volume of a pod. */
export async function makeClaim(
  cluster: RealCluster,
  namespace: string,
  { storage, ...rest }: { storage: string; storageClassName?: string },
): Promise<object> {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...rest };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec };
  await call(cluster, 'POST', `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, claim);
  return { persistentVolumeClaim: { claimName: 'data' } };
}

/** Makes a pod. */
export const makePod = (cluster: RealCluster, namespace: string, wish: Wish): Promise<Pod> =>
  call(cluster, 'POST', `/api/v1/namespaces/${namespace}/pods`, podOf(wish));

/** Waits until a pod is as it should be. */
export const podWhen = (cluster: RealCluster, namespace: string, name: string, holds: (pod: Pod) => boolean) =>
  eventually(
    async () => {
      const pod = await call<Pod>(cluster, 'GET', `/api/v1/namespaces/${namespace}/pods/${name}`);
      if (holds(pod)) return pod;
      throw new Error(`${name} is ${JSON.stringify(pod.status)}`);
    },
    { within: 60_000, every: 100, what: `pod ${name}` },
  );

/** Whether a pod can take requests. */
export const isReady = ({ status }: Pod): boolean => status.containerStatuses?.[0]?.ready === true;

/** What a container wrote. */
export async function logsOf(cluster: RealCluster, namespace: string, name: string): Promise<string> {
  return String(await call(cluster, 'GET', `/api/v1/namespaces/${namespace}/pods/${name}/log`));
}

/** Lets a pod run to its end and gives what it wrote; one that fails is the test's failure. */
export async function outcome(cluster: RealCluster, namespace: string, wish: Wish): Promise<string> {
  await makePod(cluster, namespace, wish);
  const ended = await podWhen(cluster, namespace, wish.name, ({ status }) =>
    ['Succeeded', 'Failed'].includes(status.phase),
  );
  const said = (await logsOf(cluster, namespace, wish.name)).trim();
  if (ended.status.phase === 'Failed') throw new Error(`${wish.name} failed: ${said}`);
  return said;
}

const execute = promisify(execFile);

/** Pushes an image to the registry of the cluster and gives its whole name. */
export async function push(cluster: RealCluster, name: string, image: Omit<SmallImage, 'name'>): Promise<string> {
  const { crane } = await nodePrograms(['crane']);
  const whole = `${cluster.registry}/${name}`;
  const file = join(cluster.folder, 'pushed.tar');
  await writeImage(file, { name: whole, ...image });
  await execute(crane, ['push', '--insecure', file, whole], { timeout: 60_000 });
  return whole;
}

/** Pushes the program that the pods of these tests run. */
export async function pushProbe(cluster: RealCluster): Promise<string> {
  const { probe } = await nodePrograms(['probe']);
  return push(cluster, 'tests/probe:1', { entrypoint: ['/probe'], files: { probe: { from: probe } } });
}
