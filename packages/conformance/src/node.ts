/** What needs Node: reading the vectors, the transport for any host, and serving an engine. */
export { createHttpTransport } from './node/http-transport.ts';
export { createOwnEngine } from './node/own-engine.ts';
export { readVectorSet } from './node/read-vectors.ts';
export { type ConformanceServer, serveConformance } from './node/serve.ts';
