/** The parts that need Node: reading the vectors, the transport, and serving an engine. */
export { createHttpTransport } from './node/http-transport.ts';
export { createOwnEngine } from './node/own-engine.ts';
export { readVectorSet } from './node/read-vectors.ts';
export { type ConformanceServer, serveConformance } from './node/serve.ts';
