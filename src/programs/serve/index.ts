// The door of the folder: our model server for ONNX.

export { ModelFailure } from './engine/failure.ts';
export { type ModelServer, type ServerOptions, startServer } from './server.ts';
