// What a request means to the API server: its verb and the object it is about, read from the method, the URL and the
// content type by the same rules as the server's own request parser. Pure, so that a table can test it; the trace, the
// plans and the permission check all speak in these words.

/** A request in the API server's words. What does not apply is the empty string, as the core group is. */
export interface Target {
  verb: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  path: string;
}

const verbOfMethod: Record<string, string> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** What a namespace itself can be asked for; everything else below a namespace is a resource in it. */
const partsOfNamespace = new Set(['status', 'finalize']);

/** Names verb and object of a request. A path outside the API groups has only its verb and itself. */
export function classify(method: string, url: string, contentType = ''): Target {
  const [path = '', queryText] = url.split('?', 2);
  const query = new URLSearchParams(queryText);
  const verb = verbOfMethod[method] ?? method.toLowerCase();
  const place = placeOf(path.split('/').filter(Boolean));
  if (place === undefined) return { ...nowhere, verb, path };
  const { watch, ...object } = place;
  const asked = watch || (object.name === '' && isTrue(query.get('watch')));
  const name = object.name || selectedName(query);
  return { ...object, verb: refine(verb, object.name, asked, contentType), name, path };
}

const nowhere = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };

function placeOf(parts: string[]) {
  const grouped = parts[0] === 'apis';
  if (!grouped && parts[0] !== 'api') return undefined;
  const [group, version, ...rest] = grouped ? parts.slice(1) : ['', ...parts.slice(1)];
  const watch = rest[0] === 'watch';
  const [first, ...more] = watch ? rest.slice(1) : rest;
  if (group === undefined || version === undefined || first === undefined) return undefined;
  return { group, version, watch, ...objectAt(first, more) };
}

function objectAt(first: string, more: string[]) {
  const [namespace, resource] = more;
  const inside = first === 'namespaces' && resource !== undefined && !partsOfNamespace.has(resource);
  if (inside) return { namespace: namespace ?? '', resource, name: more[2] ?? '', subresource: more[3] ?? '' };
  const name = more[0] ?? '';
  return { namespace: first === 'namespaces' ? name : '', resource: first, name, subresource: more[1] ?? '' };
}

/** A read without a name is a list or a watch, a delete without one takes all, and an apply is a patch by content type. */
function refine(verb: string, name: string, watch: boolean, contentType: string): string {
  if (verb === 'get' && watch) return 'watch';
  if (verb === 'get' && name === '') return 'list';
  if (verb === 'delete' && name === '') return 'deletecollection';
  if (verb === 'patch' && contentType.startsWith('application/apply-patch')) return 'apply';
  return verb;
}

const isTrue = (value: string | null): boolean => value !== null && value !== '0' && value !== 'false';

const selectedName = (query: URLSearchParams): string =>
  /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';

const writeVerbs = new Set(['create', 'update', 'patch', 'apply', 'delete', 'deletecollection']);

/** Groups whose objects are questions: a POST to them stores nothing. */
const askingGroups = new Set(['authorization.k8s.io', 'authentication.k8s.io']);

/** Whether a request is meant to change what the API server stores. */
export const changes = ({ verb, group, resource, dryRun }: Target & { dryRun: boolean }): boolean =>
  writeVerbs.has(verb) && resource !== '' && !dryRun && !askingGroups.has(group);
