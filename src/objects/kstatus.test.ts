import { equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CommonStatus, type Condition, type Kstatus, kstatusOf, type ObjectMeta } from './index.ts';

const condition = (type: string, status: Condition['status']): Condition => ({ type, status, reason: '', message: '' });
const ready = condition('Ready', 'True');
const unready = condition('Ready', 'False');
const reconciling = condition('Reconciling', 'True');
const stalled = condition('Stalled', 'True');
const calm = [condition('Reconciling', 'False'), condition('Stalled', 'False')];

describe('kstatusOf', () => {
  const rows: { name: string; status?: CommonStatus; meta?: Partial<ObjectMeta>; is: Kstatus }[] = [
    { name: 'no status at all', is: 'Current' },
    { name: 'a status without conditions', status: { observedGeneration: 2 }, is: 'Current' },
    { name: 'ready', status: { observedGeneration: 2, conditions: [ready, ...calm] }, is: 'Current' },
    { name: 'ready, by a writer without generations', status: { conditions: [ready] }, is: 'Current' },
    { name: 'ready of an older generation', status: { observedGeneration: 1, conditions: [ready] }, is: 'InProgress' },
    { name: 'ready of a generation to come', status: { observedGeneration: 3, conditions: [ready] }, is: 'InProgress' },
    {
      name: 'stalled of an older generation',
      status: { observedGeneration: 1, conditions: [stalled] },
      is: 'InProgress',
    },
    { name: 'not ready', status: { observedGeneration: 2, conditions: [unready, ...calm] }, is: 'InProgress' },
    { name: 'unknown', status: { conditions: [condition('Ready', 'Unknown')] }, is: 'InProgress' },
    { name: 'at work', status: { conditions: [unready, reconciling] }, is: 'InProgress' },
    { name: 'at work although ready', status: { conditions: [ready, reconciling] }, is: 'InProgress' },
    { name: 'stalled', status: { conditions: [unready, stalled] }, is: 'Failed' },
    { name: 'stalled although ready', status: { conditions: [ready, stalled] }, is: 'Failed' },
    { name: 'both, at work first', status: { conditions: [reconciling, stalled] }, is: 'InProgress' },
    { name: 'both, stalled first', status: { conditions: [stalled, reconciling] }, is: 'Failed' },
    { name: 'conditions of other types', status: { conditions: [condition('Exposed', 'False')] }, is: 'Current' },
    {
      name: 'being deleted',
      status: { observedGeneration: 1, conditions: [stalled] },
      meta: { deletionTimestamp: '2026-11-04T09:00:00Z' },
      is: 'Terminating',
    },
  ];
  for (const { name, status, meta, is } of rows)
    test(`${name}: ${is}`, () => {
      const object = {
        apiVersion: 'baton.dev/v1alpha1',
        kind: 'MLModel',
        metadata: { name: 'iris', generation: 2, ...meta },
      };
      equal(kstatusOf({ ...object, ...(status && { status }) }), is);
    });
});
