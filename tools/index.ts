// The door of the folder, for tests: what is installed, and where.

export { home } from './install/place.ts';
