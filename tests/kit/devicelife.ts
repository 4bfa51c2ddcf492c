// The life of a DeviceTemplate for the fault tests: the seed's sample, another image, another driver on other nodes; deleted. The
// operator of a lane works in one namespace and does not see nodes, so that KMM's counts have to do.

import type { Call } from '../../controlplane/faults/index.ts';
import { DeviceTemplate, mark } from '../../src/api/index.ts';
import { cut } from '../../src/controllers/devicetemplate/index.ts';
import { controllerOf, ControllerRevision, DaemonSet, isOfKind, Module, Pod } from '../../src/objects/index.ts';
import { withKmm } from './kmm/installed.ts';
import { answers } from './servers.ts';
import type { Subject } from './subject.ts';

const selector = { 'kubernetes.io/os': 'linux' };
const plain = { selector, consumerimage: 'registry.example/consumer:1', imageRepoSecret: { name: 'pull' } };
const { consumerimage: _image, ...rest } = plain;
const rolled = { ...rest, consumer: 'registry.example/consumer:2', requiredDevices: 2 };
const moved = {
  ...rolled,
  selector: { 'kubernetes.io/hostname': 'node-1' },
  maxdev: 4,
  plugin: 'registry.example/plugin:2',
};

/** What the fault tests must know of a DeviceTemplate. */
export const devicetemplate: Subject<DeviceTemplate> = {
  kind: DeviceTemplate,
  installed: withKmm,
  children: [ControllerRevision, Module, DaemonSet],
  life: [plain, rolled, moved],
  isSettled: (now) => {
    const ours = now.all(ControllerRevision).filter((one) => controllerOf(one)?.kind === DeviceTemplate.kind);
    return ours.length === 1 && now.all(DaemonSet).length === 1;
  },
  lackOf(object, now) {
    const module = now.get(Module, `${object.metadata.name}-module`);
    const { matching = 0 } = object.status?.nodes ?? {};
    const { template, module: asked } = cut(object, 1);
    const hash = template.metadata?.labels?.[mark.revision];
    const [ready = [], older = []] = [true, false].map((isCurrent) =>
      now.all(Pod).filter((pod) => answers(pod) && (pod.metadata.labels?.[mark.revision] === hash) === isCurrent),
    );
    return [
      ...(JSON.stringify(module?.spec.selector) === JSON.stringify(asked.selector)
        ? []
        : ['its Module is of another spec']),
      ...(ready.length >= (matching > 1 ? matching - 1 : 1)
        ? []
        : [`only ${ready.length} of ${matching} consumers answer`]),
      ...(older.length === 0 ? [] : [`${older.length} older consumers are still there`]),
    ];
  },
  wrongs: ({ type, object }, now) =>
    type === 'DELETED' &&
    now.all(DeviceTemplate).length > 0 &&
    (isOfKind(object, Module) || isOfKind(object, DaemonSet))
      ? [`${object.kind} ${object.metadata.name} was deleted`]
      : [],
  misdeeds: (writes) => writes.flatMap(privileged),
  fleeting: [],
  chance: (object) =>
    isOfKind(object, DeviceTemplate) ? (object.status?.consumers ?? []).flatMap(({ pod }) => pod ?? []) : [],
  undone: [],
};

/** Nobody asked for privilege. */
const privileged = ({ resource, body, seq }: Call): string[] =>
  resource === 'daemonsets' && body.includes('"privileged":true') ? [`request ${seq} asked for privilege`] : [];
