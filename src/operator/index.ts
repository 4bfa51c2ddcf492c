// The door of the folder, for the tools that describe and install the operator; main.ts is the program itself.

export { clientsFrom, controllersFrom } from './controllers.ts';
export type { ExposureSettings } from './exposure.ts';
export { type Asked, readSettings, type Sources } from './read.ts';
export { flagOf, settingList, type Settings, settings, variableOf } from './settings.ts';
export { version } from './version.ts';
export { emptyFile, help, table } from './words.ts';
