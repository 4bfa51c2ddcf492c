// The one object by which a model is reached from outside, in the way that the operator is set to. Its name is the same for
// every way; another way is another kind or type under that name, and what is no longer wanted goes.

import { MLModel, partLabels } from '../../api/index.ts';
import { HTTPRoute, Ingress, type KubeObject, type ParentReference, Service } from '../../objects/index.ts';
import { exposeName, serviceName } from './network.ts';
import { serverLabels } from './server.ts';

/** A way to the outside. */
export type Exposure = { annotations: Readonly<Record<string, string>> } & (
  | { by: 'NodePort' | 'LoadBalancer' }
  | ({ by: 'Ingress'; className?: string } & Hosted)
  | ({ by: 'Gateway'; gateway: ParentReference } & Hosted)
);

/** A way on which many models share an address, and are told apart by their host. */
export interface Hosted {
  domain: string;
  tls: boolean;
}

/** The host of a model. A name may have dots, a namespace has none, so no two models share one. */
export const hostOf = ({ metadata }: MLModel, { domain }: Hosted): string =>
  `${metadata.name}.${metadata.namespace}.${domain}`;

/** The object that exposes a model. */
export function exposureOf(model: MLModel, port: number, exposure: Exposure): KubeObject {
  const metadata = {
    name: exposeName(model),
    labels: partLabels(MLModel.kind, model.metadata.name, 'expose'),
    ...(Object.keys(exposure.annotations).length > 0 && { annotations: { ...exposure.annotations } }),
  };
  switch (exposure.by) {
    case 'NodePort':
    case 'LoadBalancer':
      return service(model, metadata, { type: exposure.by, port });
    case 'Ingress':
      return ingress(model, metadata, exposure);
    case 'Gateway':
      return route(model, metadata, { ...exposure, port });
  }
}

type Metadata = KubeObject['metadata'];

const service = (model: MLModel, metadata: Metadata, { type, port }: { type: string; port: number }): Service => ({
  apiVersion: Service.apiVersion,
  kind: Service.kind,
  metadata,
  spec: { type, selector: serverLabels(model), ports: [{ name: 'http', port, targetPort: 'http' }] },
});

/** With TLS it names a Secret for the certificate, which somebody else fills, or whose absence means a default one. */
function ingress(model: MLModel, metadata: Metadata, asked: Extract<Exposure, { by: 'Ingress' }>): Ingress {
  const host = hostOf(model, asked);
  const backend = { service: { name: serviceName(model), port: { name: 'http' } } };
  return {
    apiVersion: Ingress.apiVersion,
    kind: Ingress.kind,
    metadata,
    spec: {
      ...(asked.className !== undefined && { ingressClassName: asked.className }),
      ...(asked.tls && { tls: [{ hosts: [host], secretName: `${metadata.name}-tls` }] }),
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  };
}

const route = (
  model: MLModel,
  metadata: Metadata,
  asked: Extract<Exposure, { by: 'Gateway' }> & { port: number },
): HTTPRoute => ({
  apiVersion: HTTPRoute.apiVersion,
  kind: HTTPRoute.kind,
  metadata,
  spec: {
    parentRefs: [asked.gateway],
    hostnames: [hostOf(model, asked)],
    rules: [{ backendRefs: [{ name: serviceName(model), port: asked.port }] }],
  },
});
