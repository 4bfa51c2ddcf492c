import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ConfigMap } from '../objects/index.ts';
import { BrokenStream, parseEvent, parsePage } from './parse.ts';

const fields = (operation: string, name = 'baton') =>
  `{"manager":"${name}","operation":"${operation}","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"k:{\\"name\\":\\"]\\"}":{}}}}`;
const line = (managed: string) =>
  `{"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7"${managed}},"data":{"k":"v"}}}`;

describe('one line of a watch', () => {
  for (const { name, managed, hand } of [
    { name: 'without managedFields', managed: '', hand: 'none' },
    { name: 'made by our POST', managed: `,"managedFields":[${fields('Update')}]`, hand: 'posted' },
    {
      name: 'applied by us',
      managed: `,"managedFields":[${fields('Apply')},${fields('Update', 'kubectl')}]`,
      hand: 'applied',
    },
    {
      name: 'applied by us after our POST',
      managed: `,"managedFields":[${fields('Apply')},${fields('Update')}]`,
      hand: 'posted',
    },
    { name: 'of a stranger', managed: `,"managedFields":[${fields('Update', 'baton-evidence')}]`, hand: 'none' },
    {
      name: 'with members after managedFields',
      managed: `,"managedFields":[${fields('Apply')}],"uid":"u"`,
      hand: 'applied',
    },
  ]) {
    test(`an object ${name} keeps everything but managedFields`, () => {
      const event = parseEvent(line(managed), ConfigMap);
      equal(event.type, 'ADDED');
      if (!('entry' in event)) return;
      equal(event.entry.hand, hand);
      const { metadata, ...rest } = event.entry.object;
      deepEqual(rest, { apiVersion: 'v1', kind: 'ConfigMap', data: { k: 'v' } });
      equal('managedFields' in metadata, false);
      equal(metadata.name, 'a');
    });
  }

  test('whatever stands in an object, cutting out managedFields changes nothing else', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(json, json, fc.boolean(), (before, after, last) => {
        const metadata = { name: 'n', resourceVersion: '1', labels: before };
        const managed = { managedFields: [{ manager: 'm', fieldsV1: after }] };
        const object = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: last ? { ...metadata, ...managed } : { ...managed, ...metadata },
          data: after,
        };
        const event = parseEvent(JSON.stringify({ type: 'MODIFIED', object }), ConfigMap);
        const kept = JSON.parse(JSON.stringify({ ...object, metadata })) as unknown;
        deepEqual('entry' in event && event.entry.object, kept);
      }),
    );
  });

  for (const broken of [
    '',
    '{',
    '{"type":"ADDED"}',
    '{"type":"ODD","object":{}}',
    'null',
    '[]',
    '{"type":"ADDED","object":{"metadata":{}}}',
    '{"type":"BOOKMARK","object":{"metadata":{}}}',
  ]) {
    test(`a broken line ends the stream: ${broken || 'empty'}`, () => {
      throws(() => parseEvent(broken, ConfigMap), BrokenStream);
    });
  }

  test('a bookmark says whether the initial events are over', () => {
    const of = (annotations: object) =>
      parseEvent(
        JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations } } }),
        ConfigMap,
      );
    deepEqual(of({}), { type: 'BOOKMARK', resourceVersion: '9', endsInitial: false });
    deepEqual(of({ 'k8s.io/initial-events-end': 'true' }), {
      type: 'BOOKMARK',
      resourceVersion: '9',
      endsInitial: true,
    });
  });
});

test('items of a page get the apiVersion and kind that typed lists leave out', () => {
  const text = JSON.stringify({
    metadata: { resourceVersion: '5', continue: 'c' },
    items: [{ metadata: { name: 'a', resourceVersion: '3', managedFields: [] } }],
  });
  const page = parsePage(text, ConfigMap);
  deepEqual(page.entries[0]?.object, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', resourceVersion: '3' },
  });
  deepEqual([page.resourceVersion, page.next], ['5', 'c']);
});
