// Which question a path asks. Models and versions are checked here, so that whoever answers knows they are meant.

import { Refusal } from './refusal.ts';
import type { Named } from './response.ts';

/** The questions that the server answers. */
export type Endpoint = 'live' | 'ready' | 'server' | 'model' | 'model ready' | 'infer' | 'metrics';

const fixed = new Map<string, Endpoint>([
  ['/v2', 'server'],
  ['/v2/', 'server'],
  ['/v2/health/live', 'live'],
  ['/v2/health/ready', 'ready'],
  ['/metrics', 'metrics'],
]);

const modelPath = /^\/v2\/models\/([^/]+)(?:\/versions\/([^/]+))?(\/ready|\/infer)?$/;
const asked = { '/ready': 'model ready', '/infer': 'infer' } as const;

/** Answers the same question as long as it is asked in the same words, which on a hot path it is. */
export function router(model: Named): (method: string, target: string) => Endpoint | Refusal {
  const hot = `/v2/models/${model.name}/infer`;
  return (method, target) => {
    const path = target.split('?', 1)[0] ?? '';
    const endpoint = target === hot ? 'infer' : (fixed.get(path) ?? modelEndpoint(path, model));
    if (endpoint instanceof Refusal) return endpoint;
    const allowed = endpoint === 'infer' ? ['POST'] : ['GET', 'HEAD'];
    return allowed.includes(method) ? endpoint : new Refusal(`${path} takes ${allowed[0]}, not ${method}`, 405);
  };
}

function modelEndpoint(path: string, { name, version }: Named): Endpoint | Refusal {
  const [match, encoded = '', encodedVersion, rest] = modelPath.exec(path) ?? [];
  if (match === undefined) return new Refusal(`There is nothing at ${path}: see /v2`, 404);
  if (plain(encoded) !== name) return new Refusal(`There is no model "${plain(encoded)}": this is "${name}"`, 404);
  if (encodedVersion !== undefined && plain(encodedVersion) !== version)
    return new Refusal(`Model "${name}" has no version "${plain(encodedVersion)}": it has "${version}"`, 404);
  return rest === undefined ? 'model' : asked[rest as keyof typeof asked];
}

function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
