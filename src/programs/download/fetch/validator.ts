// By what a change of the source can be seen between two requests: its ETag, or the time of its last change.

/** What an answer says about the version that it holds. */
export interface Validator {
  etag?: string;
  modified?: string;
}

/** The version in the headers of an answer. */
export function validatorOf(headers: ReadonlyMap<string, string>): Validator {
  const [etag, modified] = [headers.get('etag'), headers.get('last-modified')];
  return { ...(etag !== undefined && etag !== '' && { etag }), ...(modified !== undefined && { modified }) };
}

/** What `If-Range` may hold: a weak tag says only that two versions mean the same. */
export const ifRange = ({ etag, modified }: Validator): string | undefined =>
  etag !== undefined && !etag.startsWith('W/') ? etag : modified;

/** Whether a change would be seen at all. */
export const canTell = ({ etag, modified }: Validator): boolean => etag !== undefined || modified !== undefined;

/** Whether two answers are of one version, as far as both say. */
export function sameVersion(a: Validator, b: Validator): boolean {
  if (a.etag !== undefined && b.etag !== undefined) return a.etag === b.etag;
  return a.modified === undefined || b.modified === undefined || a.modified === b.modified;
}
