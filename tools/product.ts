// What the product is made of, for the tools that write its manifests: the kinds that have a CRD, and the controllers
// that need roles.

import { DeviceTemplate, MLModel, ModelDeployment } from '../src/api/index.ts';
import type { manifestsOf } from '../src/kube/index.ts';
import { controllersFrom, settingList, type Settings } from '../src/operator/index.ts';
import type { DefinedKind } from '../src/schema/index.ts';

/** A controller of whatever kind, as far as its roles are concerned. */
export type RunController = Parameters<typeof manifestsOf>[0][number];

/** Every setting as it is if nobody says anything: roles do not depend on them. */
const initially = Object.fromEntries(settingList.map(([key, { initial }]) => [key, initial]));

/** Roles depend on no answer from outside. */
const never = () => Promise.reject(new Error('nobody is asked here'));
const nobody = { registry: { lookAt: never, digestOf: never } };

export const productKinds: readonly DefinedKind[] = [MLModel, ModelDeployment, DeviceTemplate];
export const productControllers: readonly RunController[] = controllersFrom(initially as Settings, nobody).map(
  ({ definition }) => definition,
);
