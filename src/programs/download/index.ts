// The door of the folder, for tests and benches: the program itself is main.ts.

export { heardDownload, type Order } from './order.ts';
export { Fault, Refused } from './outcome.ts';
export { download, type Surroundings } from './run.ts';
