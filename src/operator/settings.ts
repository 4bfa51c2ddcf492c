// Every setting of the operator, once: from this list come the flags, the variables, the keys of the file, `--help`, the
// table in the documentation and the type of the result. Whatever is not in it does not exist.

import { address, choice, count, type Form, names, object, onOff, ranges, text } from './forms.ts';
import { annotations, className, domain, gatewayForm } from './exposure.ts';
import { type FrameworkChanges, readFrameworks } from './frameworks.ts';
import { version } from './version.ts';

/** One setting. */
export interface Setting<T> {
  form: Form<T>;
  /** What holds if nobody says anything. */
  initial: T | undefined;
  /** The same in words. */
  initially: string;
  about: string;
}

const setting = <T>(form: Form<T>, initial: T, about: string, initially = String(initial)) => ({
  form,
  initial,
  initially,
  about,
});
const optional = <T>(form: Form<T>, initially: string, about: string) => ({
  form,
  initial: undefined,
  initially,
  about,
});

const dnsName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** All settings, by their key in the file. A flag is `--lease-name`, its variable `BATON_LEASE_NAME`, its key `leaseName`. */
export const settings = {
  config: optional(text('PATH'), 'no file', 'A YAML or JSON file with settings, as a ConfigMap is mounted.'),
  kubeconfig: optional(
    text('PATH'),
    "the pod's own account; outside a pod, with a context, what kubectl takes",
    'A kubeconfig; several paths are joined by colons.',
  ),
  context: optional(text('NAME'), 'the current one of the kubeconfig', 'The context of the kubeconfig.'),
  namespaces: setting(
    names('A,B', dnsName),
    [],
    'The namespaces to work in; Roles are then enough, no ClusterRole is needed.',
    'all',
  ),
  parentSelector: optional(
    text('SELECTOR'),
    'every object',
    'A label selector for the objects to look after, where several operators share a cluster.',
  ),
  leaderElection: setting(onOff, true, 'Whether one of several operators is elected; off is for a single one.', 'on'),
  leaseNamespace: optional(
    text('NAME'),
    'the first of the namespaces; else that of the pod; else baton-system',
    'Where the lease of the election is.',
  ),
  leaseName: setting(
    text('NAME'),
    'baton',
    'What the lease is called; operators with different leases do not wait for each other.',
  ),
  workers: setting(count(1, 256), 8, 'How many objects of a kind are worked on at once.'),
  healthAddress: setting(
    address,
    { host: '127.0.0.1', port: 8081 },
    'Where /livez, /readyz and /metrics are served; `:8081` is every address, port 0 any free port.',
    '127.0.0.1:8081',
  ),
  logLevel: setting(choice('debug', 'info', 'warn', 'error'), 'info', 'The least important lines that are logged.'),
  logFormat: setting(
    choice('auto', 'text', 'json'),
    'auto',
    'The form of log lines; auto is text on a terminal and JSON elsewhere.',
  ),
  image: setting(
    text('IMAGE'),
    `baton:${version}`,
    'The image of this operator, which also holds the programs that run in pods.',
  ),
  frameworks: setting(
    object<FrameworkChanges>('YAML', readFrameworks),
    {},
    'What differs from the table of frameworks: image, command, args, port, healthPath, writable, env, arch; applies to new revisions.',
    'no differences',
  ),
  imageVolumes: setting(
    choice('auto', 'on', 'off'),
    'auto',
    'Whether nodes mount oci:// weights as image volumes; auto looks at the API server and all nodes, and is off with namespaces.',
  ),
  egressDeny: setting(
    ranges,
    [],
    'Addresses that neither the operator nor its programs reach for a source; this machine, its neighbours and the API server never are.',
    'none',
  ),
  plainRegistries: setting(
    names('HOST:PORT,...', /^[A-Za-z0-9.:[\]-]+$/),
    [],
    'Registries that are spoken to without TLS; nodes need the same in the configuration of their container runtime.',
    'none',
  ),
  privilegedImages: setting(
    names('IMAGE,IMAGE*', /^[!-~]+$/),
    [],
    'Images that DeviceTemplates may run with the rights of a node: drivers, device plugins and privileged consumers; `*` at the end stands for any ending.',
    'none',
  ),
  exposure: setting(
    choice('NodePort', 'LoadBalancer', 'Ingress', 'Gateway'),
    'NodePort',
    'How a model with expose: true is reached from outside; Ingress and Gateway need exposureDomain.',
  ),
  exposureDomain: optional(
    domain,
    'none',
    'For Ingress and Gateway: a model is reached at name.namespace.DOMAIN, so *.namespace.DOMAIN must lead there.',
  ),
  exposureTls: setting(
    onOff,
    false,
    'For Ingress and Gateway: whether that is https; an Ingress then names the Secret <name>-expose-tls, a Gateway needs a listener for it.',
    'off',
  ),
  exposureAnnotations: setting(
    annotations,
    {},
    'Annotations of what exposes a model, such as those by which a cloud or an issuer of certificates is told more.',
    'none',
  ),
  ingressClass: optional(className, "the cluster's default", 'For Ingress: the class.'),
  gateway: optional(gatewayForm, 'none', 'For Gateway: which one, and which of its listeners.'),
};

type List = typeof settings;

/** The value of every setting. */
export type Settings = {
  readonly [K in keyof List]: List[K]['form'] extends Form<infer T>
    ? T | Extract<List[K]['initial'], undefined>
    : never;
};

/** The settings as a list without their types. */
export const settingList: readonly (readonly [key: string, setting: Setting<unknown>])[] = Object.entries(settings);

/** `leaseName` as it stands in a flag. */
export const flagOf = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `leaseName` as it stands in the environment. */
export const variableOf = (key: string): string => `BATON_${flagOf(key).replaceAll('-', '_').toUpperCase()}`;
