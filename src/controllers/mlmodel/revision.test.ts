// Revisions: cut once, stored, and read back as they were, whatever the operator of the day would make of them.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aModel, revision, settings } from '../../../tests/kit/mlmodel.ts';
import { seen } from '../../../tests/kit/world.ts';
import type { ControllerRevision } from '../../objects/index.ts';
import {
  askedRevision,
  askedSource,
  cut,
  isOutdated,
  type Revision,
  revisionName,
  revisionObject,
  revisionsIn,
} from './revision.ts';

const v1 = aModel();
const v2 = aModel({ server: { args: ['--other'] } });
const other = {
  ...settings,
  image: 'baton:2',
  frameworks: { onnx: { image: 'other:9', args: [], port: 9000, healthPath: '/', writable: [] } },
};

describe('a revision', () => {
  test('comes back from its object as it went in', () => {
    const made = cut(v1, settings, 7);
    const stored = JSON.parse(JSON.stringify(revisionObject(v1, made))) as ControllerRevision;
    deepEqual(revisionsIn(seen(stored)), [made]);
    equal(stored.metadata.name, `iris-${made.name}`);
    equal(stored.revision, 7);
  });

  test('is the same for lists and maps that are empty and that are missing, to the last field', () => {
    const empty = {
      tolerations: [],
      nodeSelector: {},
      imagePullSecrets: [],
      podLabels: {},
      podAnnotations: {},
      env: [],
    };
    deepEqual(cut(aModel(empty), settings, 7), cut(v1, settings, 7));
  });

  test('that is stored is not rendered again by another operator', () => {
    const asked = askedRevision(v1, seen(revision(v1)), other);
    deepEqual(asked, cut(v1, settings, 1));
    equal(askedRevision(v1, seen(), other).port, 9000);
  });

  test('is outdated under another operator, and not by another deadline for progress', () => {
    const stored = askedRevision(v1, seen(revision(v1)), settings);
    const patient = aModel({ rollout: { ...v1.spec.rollout, progressDeadlineSeconds: 3_600 } });
    equal(revisionName(patient), revisionName(v1));
    equal(isOutdated(v1, stored, settings), false);
    equal(isOutdated(patient, stored, settings), false);
    equal(isOutdated(patient, stored, other), true);
  });

  test('keeps the source with which it was cut', () => {
    const made = cut(v1, settings, 1);
    const before: Revision = { ...made, source: { from: 'download', weights: 'old', claim: 'iris-weights-of-old' } };
    equal(askedSource(v1, seen(revisionObject(v1, before))).claim, 'iris-weights-of-old');
    equal(askedSource(v1, seen()).claim, made.source.claim);
  });

  test('that is new counts on from the newest', () => {
    equal(askedRevision(v2, seen(revision(v1, 4)), settings).number, 5);
    deepEqual(
      revisionsIn(seen(revision(v1, 1), revision(v2, 2))).map(({ name }) => name),
      [revisionName(v2), revisionName(v1)],
    );
  });
});
