/**
 * A server for the public MCP conformance suite over streamable HTTP, with the guard where MCP_GUARD is set, so that
 * the suite tests the guard as an intermediary. docs/mcp.md says how the two results are compared.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createTested } from './conformance-tested.ts';

const sessions = new Map<string, StreamableHTTPServerTransport>();
const hosts = (): string[] => {
  const { port } = http.address() as AddressInfo;
  return [`127.0.0.1:${port}`, `localhost:${port}`];
};

const begin = async (): Promise<StreamableHTTPServerTransport> => {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
    enableDnsRebindingProtection: true,
    allowedHosts: hosts(),
    allowedOrigins: hosts().map((host) => `http://${host}`),
  });
  await createTested().connect(transport as never);
  return transport;
};

const http = createServer(async (request, response) => {
  const { 'mcp-session-id': id } = request.headers;
  const transport = id === undefined ? await begin() : sessions.get(String(id));
  if (transport === undefined) response.writeHead(404).end();
  else await transport.handleRequest(request, response);
});
http.listen(0, '127.0.0.1', () => console.log((http.address() as AddressInfo).port));
process.stdin.resume().once('end', () => process.exit(0));
