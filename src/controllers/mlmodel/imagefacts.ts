// Two facts about images: what is behind a name, asked once for each revision, and whether the nodes of this cluster mount
// images as volumes. Both are needed only until the revision is cut, so that a model at rest costs nothing. The second is
// a question about the cluster: models that come together and ask the same share one answer.

import { childName, type MLModel, shortHash } from '../../api/index.ts';
import type { Fact, Reader, Rule } from '../../kube/define.ts';
import { Deployment, Job, Node } from '../../objects/index.ts';
import { manifestOf } from '../../serving/index.ts';
import { inspectName, isOpen, mountsImage } from './look.ts';
import type { Looked, MLModelClients } from './registry.ts';
import { renderTemplate, server } from './server.ts';
import type { MLModelSettings } from './settings.ts';
import { attemptOf, imageAsked } from './source.ts';

/** What is behind the name that is asked; not while a Job asks. Whoever mends something wants it asked again. */
export const manifest = manifestOf<MLModel, Looked>(
  (model, seen) => {
    const asks = isOpen(model, seen) && !seen.get(Job, inspectName(model));
    return asks ? { image: imageAsked(model), attempt: attemptOf(model) } : undefined;
  },
  (registry, image, signal) => registry.lookAt(image, signal),
);

/** Whether the API server keeps image volumes, and all nodes that may run the servers are known to mount them. */
export function imageVolumes(
  settings: MLModelSettings,
  monotonic = () => performance.now(),
): Fact<MLModel, Deployment, boolean, MLModelClients> {
  const answers = new Answers(monotonic);
  return {
    freshFor: 600_000,
    perSecond: 50, // as names are looked up, beside which it takes no time of its own
    needs: settings.imageVolumes === 'auto' ? needs : [],
    inputs(model, seen) {
      if (settings.imageVolumes !== 'auto' || !isOpen(model, seen)) return undefined;
      return trialOf(model, settings);
    },
    fetch: async (deployment, { kube }) => {
      const labels = deployment.spec.template.spec.nodeSelector ?? {};
      return (
        (await answers.to({ labels }, () => nodesMount(labels, kube))) &&
        (await answers.to({ deployment }, () => serverKeeps(deployment, kube)))
      );
    },
  };
}

/** Milliseconds for which others get the same answer. Short: a model that comes after nodes or policies changed must find them so. */
const sharedFor = 2_000;

/** The answers of the last moment, and those that are under way, by question. No more are held than are asked in that time. */
class Answers {
  private readonly monotonic: () => number;
  /** In the order in which they were asked. */
  private readonly asked = new Map<string, { at: number; answer: Promise<boolean> }>();

  constructor(monotonic: () => number) {
    this.monotonic = monotonic;
  }

  to(question: object, ask: () => Promise<boolean>): Promise<boolean> {
    this.forgetOld();
    const key = shortHash(question, 16);
    const former = this.asked.get(key);
    if (former) return former.answer;
    const made = { at: this.monotonic(), answer: ask() };
    this.asked.set(key, made);
    made.answer.catch(() => this.asked.get(key) === made && this.asked.delete(key));
    return made.answer;
  }

  /** Counted from the question: one that is never answered holds nobody up for longer either. */
  private forgetOld(): void {
    for (const [key, { at }] of this.asked) {
      if (this.monotonic() - at < sharedFor) return;
      this.asked.delete(key);
    }
  }
}

const needs: readonly Rule[] = [
  { group: '', resource: 'nodes', verbs: ['list'], scope: 'cluster' },
  { group: 'apps', resource: 'deployments', verbs: ['create'] },
];

/** Of the nodes that may run the servers. A cluster in which no node is known yet cannot be known to mount. */
async function nodesMount(labels: Readonly<Record<string, string>>, kube: Reader): Promise<boolean> {
  const labelSelector = Object.entries({ 'kubernetes.io/os': 'linux', ...labels })
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const nodes = await kube.list(Node, '', { labelSelector });
  return nodes.length > 0 && nodes.every(canMount);
}

/**
 * The oldest versions that mount images with no gate set: kubelets do since 1.35; containerd can since 2.1, CRI-O since
 * 1.31. Of anything else it is not known.
 */
export function canMount({ status }: Pick<Node, 'status'>): boolean {
  const { kubeletVersion = '', containerRuntimeVersion = '' } = status?.nodeInfo ?? {};
  const [runtime = '', version = ''] = containerRuntimeVersion.split('://');
  const least = runtimes[runtime];
  return least !== undefined && isAtLeast(version, least) && isAtLeast(kubeletVersion, [1, 35]);
}

const runtimes: Readonly<Record<string, readonly [number, number]>> = { containerd: [2, 1], 'cri-o': [1, 31] };

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, first, second] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(first) > major || (Number(first) === major && Number(second) >= minor);
}

/** An API server whose gate is off drops the field, and a policy may refuse it. */
async function serverKeeps(deployment: Deployment, kube: Reader): Promise<boolean> {
  const answer = await kube.dryRun(Deployment, deployment);
  return answer !== undefined && mountsImage(answer.spec.template);
}

const nothing = `registry.example/trial@sha256:${'0'.repeat(64)}`;

/**
 * The servers as they would be, so that policies judge the real thing; none of them, under a name that nobody has. Neither
 * whose they are nor what they would serve is in it, so that it is the same for all models with the same pods.
 */
function trialOf({ spec, metadata, ...type }: MLModel, settings: MLModelSettings): Deployment {
  const { namespace = '' } = metadata;
  const anybody = { ...type, metadata: { name: 'trial' }, spec };
  const { template } = renderTemplate(anybody, 'trial', { from: 'image', image: nothing }, settings);
  const made = server(anybody, { name: 'trial', template }, { replicas: 0, takeover: 'surge', served: [] });
  return { ...made, metadata: { ...made.metadata, namespace, name: childName('trial', shortHash(template, 10)) } };
}
