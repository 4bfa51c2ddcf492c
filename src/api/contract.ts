// The second door of the folder: what the operator and the programs in its pods agree on, without the kinds. A program that
// comes in here does not load their schemas, which would be a quarter of its memory and half of its start.

export * from './access.ts';
export * from './programs.ts';
export * from './serve.ts';
