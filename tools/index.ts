// The door of the folder, for tests: what is installed and shipped, and how an operator is started beside a control plane.

export { bundled } from './image/programs.ts';
export { buildImage, type BuiltImage, type ImageOptions } from './image/assemble.ts';
export { operatorRoles } from './install/objects.ts';
export { home } from './install/place.ts';
export { secretUse } from './install/policy.ts';
export { productKinds } from './product.ts';
export { installInto } from './run/local.ts';
export { type LocalOperator, startLocalOperator, withoutSettings } from './run/operator.ts';
export { screenOn } from './run/screen.ts';
