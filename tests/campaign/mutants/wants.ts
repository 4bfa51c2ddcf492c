// Faults in what is wanted: children that are missing, frozen, half compared, too powerful, or that everybody else's pods match.

import {
  Deployment,
  isOfKind,
  Job,
  type KubeObject,
  label,
  PersistentVolumeClaim,
  Service,
} from '../../../src/objects/index.ts';
import { childOf, type Mutant, reading, wanting, withChild } from './mutant.ts';

interface Template {
  metadata?: object;
  spec: Record<string, unknown> & { containers: Record<string, unknown>[] };
}

/** The child with another pod template, if it has one. */
function withPods(child: KubeObject, change: (template: Template) => Template): KubeObject {
  if (!isOfKind(child, Deployment) && !isOfKind(child, Job)) return child;
  const { template } = child.spec as unknown as { template: Template };
  return { ...child, spec: { ...child.spec, template: change(template) } } as unknown as KubeObject;
}

const pods = (change: (template: Template) => Template): Mutant['plant'] =>
  wanting((want) => [withChild(want, withPods(childOf(want), change))]);

const containers = (change: (container: Record<string, unknown>) => Record<string, unknown>): Mutant['plant'] =>
  pods((template) => ({ ...template, spec: { ...template.spec, containers: template.spec.containers.map(change) } }));

export const wants: Record<string, Mutant> = {
  shell: {
    like: [1],
    does: 'the URL is pasted into a shell',
    plant: wanting((want) => {
      const child = childOf(want);
      if (!isOfKind(child, Job)) return [want];
      const paste = (container: Record<string, unknown>) => {
        const { args = [], ...rest } = container as { args?: string[] };
        return { ...rest, command: ['sh', '-c'], args: [`exec baton ${args.join(' ')}`] };
      };
      return [
        withChild(
          want,
          withPods(child, ({ spec, ...template }) => ({
            ...template,
            spec: { ...spec, containers: spec.containers.map(paste) },
          })),
        ),
      ];
    }),
  },
  noService: {
    like: [10],
    does: 'the status tells of a Service that is never made',
    plant: wanting((want) => (isOfKind(childOf(want), Service) ? [] : [want])),
  },
  orphans: {
    like: [11, 13],
    does: 'a child has no owner, so nothing takes it away',
    plant: wanting((want) => {
      const child = childOf(want);
      if (!isOfKind(child, PersistentVolumeClaim)) return [want];
      const labels = { ...child.metadata.labels, [label.retained]: 'always' };
      return [withChild(want, { ...child, metadata: { ...child.metadata, labels } })];
    }),
  },
  hastyEdit: { like: [14], does: 'an edit while the weights are fetched is ignored', plant: ignoringEdits() },
  noChecksum: {
    like: [15],
    does: 'the download does not compare the digest that is asked for',
    plant: containers((container) => ({
      ...container,
      ...(container['args']
        ? { args: (container['args'] as string[]).filter((one) => !one.startsWith('--digest=')) }
        : {}),
    })),
  },
  unrestricted: {
    like: [16, 24],
    does: 'containers have no security context',
    plant: containers(({ securityContext: _context, ...container }) => container),
  },
  frozen: {
    like: [19],
    does: 'edits go to a copy and never reach what runs',
    plant: wanting((want, { seen }) => {
      const child = childOf(want);
      const held = isOfKind(child, Deployment) ? seen.get(Deployment, child.metadata.name) : undefined;
      return [held ? { keep: held } : want];
    }),
  },
  halfCompared: {
    like: [21],
    does: 'selectors and pull secrets stay what they were at first',
    plant: wanting((want, { seen }) => {
      const child = childOf(want);
      const held = isOfKind(child, Deployment) ? seen.get(Deployment, child.metadata.name) : undefined;
      const { nodeSelector, imagePullSecrets } = (held?.spec.template.spec ?? {}) as Record<string, unknown>;
      const stale = (template: Template) => ({
        ...template,
        spec: { ...template.spec, nodeSelector, imagePullSecrets },
      });
      return [held ? withChild(want, withPods(child, stale)) : want];
    }),
  },
  wideSelector: {
    like: [23],
    does: 'the selector of the Service matches pods of strangers',
    plant: wanting((want) => {
      const child = childOf(want);
      if (!isOfKind(child, Service)) return [want];
      const selector = { 'app.kubernetes.io/component': 'server' };
      return [withChild(want, { ...child, spec: { ...child.spec, selector } })];
    }),
  },
  secondDownload: {
    like: [5, 6],
    does: 'nothing is noted of a download, so it is done again when its Job is gone',
    plant: wanting((want) => ('note' in want ? [] : [want])),
  },
  editsMixed: {
    like: [20],
    does: 'what is made differs from what it is compared with, so every write is followed by another',
    plant: wanting((want) => {
      const child = childOf(want);
      if (!isOfKind(child, Service)) return [want];
      const annotations = { ...child.metadata.annotations, built: String(Date.now() % 7) };
      return [withChild(want, { ...child, metadata: { ...child.metadata, annotations } })];
    }),
  },
};

/** What was asked when a download began is all that counts until the operator starts again. */
function ignoringEdits(): Mutant['plant'] {
  const begun = new Map<string, unknown>();
  return reading((pass) => {
    const { uid = '' } = pass.object.metadata;
    if (pass.seen.all(Job).length > 0 && !begun.has(uid)) begun.set(uid, pass.object.spec);
    return { ...pass, object: { ...pass.object, spec: begun.get(uid) ?? pass.object.spec } };
  });
}
