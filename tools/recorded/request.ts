// One request as the API server wrote it down (controlplane/recording.ts): who asked for what, what was written, and which
// role allowed it.

/** The part of such a line that is read. */
export interface Recorded {
  verb: string;
  objectRef?: { apiGroup?: string; resource: string; subresource?: string; namespace?: string; name?: string };
  responseStatus?: { code?: number };
  annotations?: Record<string, string>;
  requestObject?: Record<string, unknown>;
}

/** Whether a role of the operator allowed it, and not one that everybody has. */
export const isByOurRole = ({ annotations = {} }: Recorded): boolean =>
  / of (Cluster)?Role "baton(-lease)?" /.test(annotations['authorization.k8s.io/reason'] ?? '');

/** Whether it made or changed a Secret. */
export const isOfSecret = ({ objectRef }: Recorded): boolean =>
  objectRef?.resource === 'secrets' && (objectRef.apiGroup ?? '') === '';
