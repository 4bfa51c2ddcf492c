import { deepEqual, equal, match, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readReference, type Reference, referenceOf, written } from './reference.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('a reference', () => {
  const readable: [string, Reference][] = [
    ['registry.example/iris', { host: 'registry.example', repository: 'iris', tag: 'latest' }],
    ['oci://registry.example/a/b:1.2', { host: 'registry.example', repository: 'a/b', tag: '1.2' }],
    ['localhost/iris:1', { host: 'localhost', repository: 'iris', tag: '1' }],
    ['127.0.0.1:5000/iris:1', { host: '127.0.0.1:5000', repository: 'iris', tag: '1' }],
    ['[::1]:5000/iris', { host: '[::1]:5000', repository: 'iris', tag: 'latest' }],
    ['REG:5000/models/iris__a-b.c', { host: 'REG:5000', repository: 'models/iris__a-b.c', tag: 'latest' }],
    ['docker.io/iris', { host: 'docker.io', repository: 'library/iris', tag: 'latest' }],
    ['index.docker.io/iris:1', { host: 'docker.io', repository: 'library/iris', tag: '1' }],
    ['index.docker.io/ann/iris:1', { host: 'docker.io', repository: 'ann/iris', tag: '1' }],
    [`registry.example/iris@${digest}`, { host: 'registry.example', repository: 'iris', digest }],
    [`registry.example/iris:1@${digest}`, { host: 'registry.example', repository: 'iris', tag: '1', digest }],
  ];
  for (const [text, reference] of readable)
    test(`${text} is read`, () => deepEqual(readReference(text), { reference }));

  const wrong: [string, RegExp][] = [
    ['', /write it as host\/repository:tag/],
    ['iris', /write it as host\/repository:tag/],
    ['/iris', /write it as host\/repository:tag/],
    ['library/iris', /"library" is not a host; the registry must be named/],
    ['registry.example/', /the repository is missing/],
    ['registry.example:0/iris', /0 is not a port/],
    ['registry.example:70000/iris', /70000 is not a port/],
    ['-registry.example/iris', /is not a host/],
    ['user:secret@registry.example/iris', /write it as|is not a host|is not a digest/],
    ['registry.example/Iris', /upper case/],
    ['registry.example/../iris', /"\.\." cannot be part/],
    ['registry.example/a//b', /"" cannot be part/],
    ['registry.example/iris?x', /"iris\?x" cannot be part/],
    ['registry.example/iris:', /"" is not a tag/],
    ['registry.example/iris:a b', /"a b" is not a tag/],
    ['registry.example/iris@sha256:12', /is not a digest; write it as sha256: and 64 digits/],
    [`registry.example/iris@${digest}@${digest}`, /more than one @/],
    [`registry.example/${'a'.repeat(250)}`, /longer than 255/],
  ];
  for (const [text, why] of wrong)
    test(`"${text.slice(0, 40)}" is refused with the reason`, () => {
      const read = readReference(text);
      match('wrong' in read ? read.wrong : 'it was read', why);
      throws(() => referenceOf(text), why);
    });

  test('what was written is read again', () => {
    const part = fc.stringMatching(/^[a-z0-9]{1,9}([._-][a-z0-9]{1,5})?$/);
    const given = fc.record({
      host: fc.constantFrom('registry.example', 'localhost:5000', '10.0.0.1'),
      repository: fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
      tag: fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/),
      digest: fc.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    fc.assert(fc.property(given, (reference) => deepEqual(referenceOf(written(reference)), { ...reference })));
  });

  test('whatever is written, reading it ends with a value', () => {
    fc.assert(fc.property(fc.string(), (text) => equal(typeof readReference(text), 'object')));
  });
});
