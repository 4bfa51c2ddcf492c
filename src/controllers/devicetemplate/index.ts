// The door of the folder: the controller of DeviceTemplate, and the pure functions in it, for tests that build a world of the same
// parts.

export { consumerLabels, consumersOf } from './consumer.ts';
export { decide, deviceTemplateController } from './controller.ts';
export type { DeviceFacts } from './facts.ts';
export { labelsOf, moduleName, moduleOf } from './module.ts';
export type { DeviceSettings } from './privilege.ts';
export { cut, type Revision, revisionName } from './revision.ts';
