// The servers that a cluster of real nodes has beside its control plane: DNS, an image registry, and an S3 server for
// those who ask for one. They run in the hub, where the machine, the nodes and the pods reach them at one address.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type Component, startComponent } from '../component.ts';
import { kubeconfig } from '../files.ts';
import type { Network } from '../flags.ts';
import type { Parts } from '../plane.ts';
import { until } from '../until.ts';

/** What a server is started from. */
export interface Server {
  parts: Parts;
  network: Network;
  /** The path of its program. */
  program: string;
  environment?: NodeJS.ProcessEnv;
}

/** An S3 server and who may use it. */
export interface S3 {
  /** Like `http://10.61.0.1:7070`. */
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Starts the registry: plain HTTP, no names, deletes allowed. Resolves with its address and port. */
export async function startRegistry({ parts, network, program }: Server): Promise<string> {
  const address = `${network.inside}:5000`;
  const folder = join(parts.home.folder, 'nodes', 'registry');
  mkdirSync(folder);
  const settings = {
    version: '0.1',
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
    http: { addr: `${network.inside}:5000` },
  };
  const file = join(folder, 'registry.yaml');
  writeFileSync(file, stringify(settings));
  writeFileSync(join(folder, 'address'), address);
  const component = start('registry', ['serve', file], { parts, network, program });
  await answers(component, `http://${address}/v2/`, parts);
  return address;
}

/** The address and port of the registry of a running cluster, by its folder. */
export const registryIn = (folder: string): string =>
  readFileSync(join(folder, 'nodes', 'registry', 'address'), 'utf8');

/** Starts DNS for the names of the cluster and of `hosts`; no other name is known to it. */
export async function startDns(server: string, { parts, network, program }: Server): Promise<void> {
  const { authority, ca } = parts.identities;
  const folder = join(parts.home.folder, 'nodes', 'dns');
  mkdirSync(folder);
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text, { mode: 0o600 });
  write('kubeconfig', kubeconfig(server, ca, authority.issue({ name: 'system:coredns' })));
  write('hosts', '');
  write('nothing', '@ 5 IN SOA hub. hub. 1 60 60 60 5\n@ 5 IN NS hub.\n');
  write('Corefile', corefile(network, folder));
  const component = start('coredns', ['-conf', join(folder, 'Corefile')], { parts, network, program });
  await answers(component, `http://${network.outside}:8181/ready`, parts);
}

/** Starts an S3 server on folders. */
export async function startS3({ parts, network, program }: Server): Promise<S3> {
  const folder = join(parts.home.folder, 'nodes', 's3');
  mkdirSync(folder);
  const s3 = {
    endpoint: `http://${network.inside}:7070`,
    region: 'us-east-1',
    accessKeyId: 'tester-of-buckets',
    secretAccessKey: 'not-a-secret',
  };
  const args = ['--region', s3.region, '--port', `${network.inside}:7070`, '--health', '/health', 'posix', folder];
  const environment = { ROOT_ACCESS_KEY_ID: s3.accessKeyId, ROOT_SECRET_ACCESS_KEY: s3.secretAccessKey };
  const component = start('versitygw', args, { parts, network, program, environment });
  await answers(component, `${s3.endpoint}/health`, parts);
  return s3;
}

function start(name: string, args: string[], { parts, network, program, environment = {} }: Server): Component {
  const [first = '', ...rest] = [...network.enter, program, ...args];
  return startComponent({ name, program: first, args: rest, folder: parts.home.folder, environment });
}

const answers = (component: Component, url: string, { home }: Parts): Promise<void> =>
  until(async () => (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok, {
    what: `${url} answers`,
    milliseconds: 30_000,
    folder: home.folder,
    components: [component],
  });

/** Names are answered at once or denied at once: a pod never waits for a resolver that is out of reach. */
const corefile = ({ inside, outside }: Network, folder: string): string => `cluster.local in-addr.arpa ip6.arpa {
  bind ${inside}
  errors
  ready ${outside}:8181
  loadbalance
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${join(folder, 'kubeconfig')}
    pods insecure
  }
}
. {
  bind ${inside}
  errors
  hosts ${join(folder, 'hosts')} {
    reload 200ms
    ttl 1
    fallthrough
  }
  file ${join(folder, 'nothing')} .
}
`;
