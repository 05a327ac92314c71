/**
 * An MCP server with guarded tools, in a process of its own: over stdio, and over streamable HTTP at the port that it
 * prints on stderr.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createVerifier } from '@svc/sdk-rp';
import { getToolAuthority, guardTools } from '@svc/sdk-rp/mcp';
import { z } from 'zod';

const { SVC_URL = '', SVC_DID = '', SHOP_DID = '' } = process.env;
const verifier = createVerifier({ baseUrl: SVC_URL, serviceDid: SVC_DID, relyingParty: SHOP_DID });

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });

const createShop = (): McpServer => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  guardTools(server, {
    verifier,
    origin: 'https://shop.example',
    tools: {
      search: 'free',
      wipe: 'forbidden',
      buy: {
        action: ({ order, amount }) => ({
          ...{
            type: 'commerce:purchase',
            resource: `order/${order}`,
            amount: Number(amount),
            currency: 'USD',
          },
        }),
      },
    },
  });
  const inputSchema = { order: z.string(), amount: z.number().optional(), note: z.string().optional() };
  for (const name of ['search', 'wipe'])
    server.registerTool(name, { inputSchema }, ({ order }) => said(`${name} ${order}`));
  for (const name of ['buy', 'refund', 'cancel'])
    server.registerTool(name, { inputSchema }, ({ order, amount }, extra) => {
      const { agent } = getToolAuthority(extra);
      return said(`${name} ${order} ${amount} for ${agent}`);
    });
  return server;
};

// Stateless: a server and a transport for each request.
const http = createServer(async (request, response) => {
  const transport = new StreamableHTTPServerTransport({});
  response.once('close', () => void transport.close());
  await createShop().connect(transport as never);
  await transport.handleRequest(request, response);
});
http.listen(0, '127.0.0.1', () => console.error((http.address() as AddressInfo).port));
process.stdin.once('end', () => process.exit(0));
await createShop().connect(new StdioServerTransport());
