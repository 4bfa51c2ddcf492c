// All objects of an installation, in the order in which a cluster takes them. `make install` brings what the kinds need,
// `make deploy` the operator as well.

import { stringify } from 'yaml';
import { manifestsOf } from '../../src/kube/index.ts';
import { crdOf } from '../../src/schema/index.ts';
import { productControllers, productKinds } from '../product.ts';
import { operatorPolicies } from './network.ts';
import { type Choices, configMap, deployment, healthPort, operatorNamespace, serviceAccount } from './operator.ts';
import { home, type Manifest } from './place.ts';
import { secretPolicy } from './policy.ts';
import { userRoles } from './users.ts';

/** What the kinds need before anybody can use them: they outlive the operator. */
export const kindObjects = (): Manifest[] => [
  operatorNamespace,
  ...productKinds.map((kind) => crdOf(kind) as unknown as Manifest),
  ...productKinds.flatMap(secretPolicy),
  ...userRoles(productKinds),
];

/** The operator: who it is, what it may do and reach, and its pod. */
export const operatorObjects = (choices: Choices): Manifest[] => [
  serviceAccount,
  ...operatorRoles(choices.namespaces),
  ...operatorPolicies(healthPort),
  configMap(),
  deployment(choices),
];

/** Exactly what the controllers declare, everywhere or in some namespaces. */
export const operatorRoles = (namespaces: readonly string[]): Manifest[] =>
  manifestsOf(productControllers, { ...home, watched: namespaces }) as unknown as Manifest[];

/** The whole installation as one file. */
export const installerOf = (choices: Choices): string =>
  [...kindObjects(), ...operatorObjects(choices)]
    .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
