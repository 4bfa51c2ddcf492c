// Which path asks what, and what an unknown one is told.

import { equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refusal } from './refusal.ts';
import { type Endpoint, router } from './routes.ts';

const route = router({ name: 'my model', version: '1' });

describe('a path', () => {
  const rows: [method: string, path: string, endpoint: Endpoint][] = [
    ['GET', '/v2', 'server'],
    ['GET', '/v2/health/live', 'live'],
    ['GET', '/v2/health/ready?verbose', 'ready'],
    ['GET', '/v2/models/my%20model', 'model'],
    ['GET', '/v2/models/my%20model/versions/1', 'model'],
    ['GET', '/v2/models/my%20model/ready', 'model ready'],
    ['HEAD', '/v2/models/my%20model/versions/1/ready', 'model ready'],
    ['POST', '/v2/models/my%20model/infer', 'infer'],
    ['POST', '/v2/models/my%20model/versions/1/infer', 'infer'],
    ['GET', '/metrics', 'metrics'],
  ];
  for (const [method, path, endpoint] of rows)
    test(`${method} ${path} asks for ${endpoint}`, () => equal(route(method, path), endpoint));

  const refusals: [method: string, path: string, status: number, says: RegExp][] = [
    ['GET', '/', 404, /nothing at \//],
    ['POST', '/v2/models/other/infer', 404, /no model "other": this is "my model"/],
    ['POST', '/v2/models/my%20model/versions/2/infer', 404, /no version "2": it has "1"/],
    ['GET', '/v2/models/%zz', 404, /no model "%zz"/],
    ['GET', '/v2/models/my%20model/stats', 404, /nothing at/],
    ['GET', '/v2/models/my%20model/infer', 405, /takes POST, not GET/],
    ['POST', '/v2/health/live', 405, /takes GET, not POST/],
  ];
  for (const [method, path, status, says] of refusals)
    test(`${method} ${path} is refused with ${status}`, () => {
      const refusal = route(method, path);
      ok(refusal instanceof Refusal);
      equal(refusal.status, status);
      match(refusal.words, says);
    });
});
