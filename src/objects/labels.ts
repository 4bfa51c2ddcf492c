// Labels and annotations by which the engine finds and judges the objects it made.

export const label = {
  /** The kind of the parent; children are selected by it on the server. */
  kind: 'baton.dev/kind',
  /** The name of the parent. */
  name: 'baton.dev/name',
  /** The UID of the parent; never in pod templates. */
  uid: 'baton.dev/uid',
  /** On a claim that outlives its parent: the revision whose data it holds. */
  retained: 'baton.dev/retained',
} as const;

export const annotation = {
  /** The hash of what was wanted when the child was last written. */
  desired: 'baton.dev/desired',
} as const;

/** Field managers: who writes what, in words that `kubectl --show-managed-fields` shows. */
export const manager = {
  children: 'baton',
  evidence: 'baton-evidence',
  status: 'baton-status',
  /** Apart from the children's: an object may be a child of ours and a parent with a finalizer at once. */
  finalizer: 'baton-finalizer',
} as const;
