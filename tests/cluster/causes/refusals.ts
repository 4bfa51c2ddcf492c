// What somebody else does not allow: a quota, an admission policy, an object that stands where ours should.

import { clusterKindOf, Deployment, KubeEvent, type KubeObject, kindOf, Service } from '../../../src/objects/index.ts';
import { eventually } from '../../kit/eventually.ts';
import { type Place, refused, reported } from '../../kit/telling.ts';
import type { Case } from './case.ts';

const ResourceQuota = kindOf<KubeObject & { status?: { hard?: object } }>('v1', 'ResourceQuota', 'resourcequotas');
const admission = 'admissionregistration.k8s.io/v1';
const Policy = clusterKindOf<KubeObject>(admission, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const Binding = clusterKindOf<KubeObject>(
  admission,
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
);

/** A quota that is in force. */
const quota =
  (hard: Record<string, string>) =>
  async ({ rig, namespace }: Place): Promise<void> => {
    await rig.apply(ResourceQuota, { metadata: { namespace, name: 'small' }, spec: { hard } });
    const inForce = async () => (await rig.get(ResourceQuota, namespace, 'small'))?.status?.hard;
    await eventually(inForce, { what: 'the quota is counted' });
  };

/** A policy that lets nobody make such objects here, in force; `example` is how kubectl would make one. */
const policy =
  (group: string, resource: string, example: string) =>
  async ({ rig, namespace }: Place): Promise<void> => {
    const name = `${namespace}-${resource}`;
    const rule = { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource] };
    const here = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
    await rig.apply(Policy, {
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'false', message: `no ${resource} on a Friday` }],
      },
    });
    await rig.apply(Binding, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'], matchResources: { namespaceSelector: here } },
    });
    const tried = ['-n', namespace, ...example.split(' '), 'one', '--image=one', '--dry-run=server'];
    const inForce = async () => (await rig.plane.kubectl(tried)).stderr.includes('denied request');
    await eventually(inForce, { every: 200, what: 'the policy is in force' });
  };

/** Somebody's object under the name of ours. */
const stranger =
  (part: 'service' | 'server') =>
  ({ rig, namespace }: Place): Promise<KubeObject> => {
    const metadata = { namespace, name: `iris-${part}` };
    if (part === 'service') return rig.apply(Service, { metadata, spec: { ports: [{ port: 80 }] } });
    const labels = { app: 'theirs' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'theirs', image: 'theirs:1' }] } };
    return rig.apply(Deployment, { metadata, spec: { replicas: 0, selector: { matchLabels: labels }, template } });
  };

const jobsEvent = (place: Place) =>
  reported(
    place,
    KubeEvent,
    ({ reason, involvedObject }) => reason === 'FailedCreate' && involvedObject.kind === 'Job',
  );
const noReplica = (place: Place) =>
  reported(place, Deployment, ({ status }) =>
    Boolean(status?.conditions?.some((one) => one.type === 'ReplicaFailure' && one.status === 'True')),
  );

export const refusals: Case[] = [
  {
    name: 'quota exceeded: claims',
    prepare: quota({ persistentvolumeclaims: '0' }),
    report: (place) => refused(place, 'persistentvolumeclaims'),
    words: /the quota does not allow PersistentVolumeClaim iris-weights-\w+: .*exceeded quota: small/,
    reason: 'QuotaExceeded',
    is: 'stalled',
  },
  {
    name: 'quota exceeded: pods of the download',
    prepare: quota({ pods: '0' }),
    report: jobsEvent,
    words: /^Job iris-download-\S+ cannot make a pod: exceeded quota: small.*limited: pods=0 \(raise the quota/,
    reason: 'QuotaExceeded',
    is: 'stalled',
  },
  {
    name: 'quota exceeded: pods of the servers',
    own: { resources: { requests: { cpu: '200m' } } },
    prepare: quota({ 'requests.cpu': '150m' }),
    report: noReplica,
    words: /^Deployment iris-server cannot make a pod: exceeded quota: small.*limited: requests.cpu=150m/,
    reason: 'QuotaExceeded',
    is: 'stalled',
  },
  {
    name: 'admission refused: Jobs',
    prepare: policy('batch', 'jobs', 'create job'),
    report: (place) => refused(place, 'jobs'),
    words: /an admission policy refused Job iris-download-\S+: .*denied request: no jobs on a Friday/,
    reason: 'AdmissionDenied',
    is: 'stalled',
  },
  {
    name: 'admission refused: Deployments',
    prepare: policy('apps', 'deployments', 'create deployment'),
    report: (place) => refused(place, 'deployments'),
    words: /an admission policy refused Deployment iris-server: .*denied request: no deployments on a Friday/,
    reason: 'AdmissionDenied',
    is: 'stalled',
  },
  {
    name: 'admission refused: pods',
    prepare: policy('', 'pods', 'run'),
    report: jobsEvent,
    words: /^Job iris-download-\S+ cannot make a pod: .*denied request: no pods on a Friday$/,
    reason: 'PodRefused',
    is: 'stalled',
  },
  {
    name: 'the name of the Service taken by a stranger',
    prepare: stranger('service'),
    report: (place) => refused(place, 'services'),
    words: /^Service iris-service exists already and was not made by Baton; it is left untouched\. Rename or delete it/,
    reason: 'OwnershipConflict',
    is: 'stalled',
  },
  {
    name: 'the name of the Deployment taken by a stranger',
    prepare: stranger('server'),
    report: (place) => refused(place, 'deployments'),
    words: /^Deployment iris-server exists already and was not made by Baton/,
    reason: 'OwnershipConflict',
    is: 'stalled',
  },
];
