/** Serves an engine over the wire contract on a local port, for comparisons and as an example of an endpoint. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { answerRequest, type ConformanceEngine, type EndpointLimits } from '../endpoint.ts';
import { CONTRACT, MAX_CASES, MAX_REQUEST_BYTES } from '../wire.ts';

const LIMITS: EndpointLimits = { maxRequestBytes: MAX_REQUEST_BYTES, maxCases: MAX_CASES };
const REQUEST_TIMEOUT_MS = 10_000;

/** A running endpoint. */
export interface ConformanceServer {
  /** The URL of the endpoint. */
  readonly url: string;
  /** Ends every connection, and resolves once the port is free. */
  close(): Promise<void>;
}

/** Listens on `port`; 0 takes a free one. Rejects with the system error if the port cannot be bound. */
export const serveConformance = async (
  engine: ConformanceEngine,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<ConformanceServer> => {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    respond(request, response, engine).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { url: urlOf(server), close: () => closeServer(server) };
};

const respond = async (
  request: IncomingMessage,
  response: ServerResponse,
  engine: ConformanceEngine,
): Promise<void> => {
  const { status, text } = await answerTo(request, engine);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  // Closes the connection, so as not to wait for the rest of an unread body.
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(status, headers).end(text);
};

const answerTo = async (
  request: IncomingMessage,
  engine: ConformanceEngine,
): Promise<{ status: number; text: string }> => {
  if (request.method !== 'POST') return refusal(405, 'one JSON POST per call');
  const body = await readAtMost(request, LIMITS.maxRequestBytes);
  if (body === null) return refusal(413, `a request has at most ${LIMITS.maxRequestBytes} bytes`);
  return answerRequest(body.toString('utf8'), engine, LIMITS);
};

const refusal = (status: number, error: string) => ({
  status,
  text: JSON.stringify({ contract: CONTRACT, error }),
});

/** Null if the body is too large. Without a Content-Length, the connection is closed at the limit. */
const readAtMost = async (request: IncomingMessage, maxBytes: number): Promise<Buffer | null> => {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return null;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
};

const urlOf = (server: Server): string => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}/`;
};

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
