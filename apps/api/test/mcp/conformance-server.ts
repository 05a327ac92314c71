/**
 * A server for the public MCP conformance suite, with the guard where MCP_GUARD is set: all of its tools are free then, so that what
 * the suite sees is the guard's way of standing between. docs/mcp.md says how the two are compared.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { guardTools } from '@svc/sdk-rp/mcp';
import { z } from 'zod';

const NAMES = [
  ...['test_simple_text', 'test_image_content', 'test_audio_content', 'test_embedded_resource'],
  ...[
    'test_multiple_content_types',
    'test_error_handling',
    'test_tool_with_logging',
    'test_tool_with_progress',
  ],
];
/** One pixel, and no sound. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = { type: 'text' as const, text: 'This is a simple text response for testing.' };
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const audio = { type: 'audio' as const, data: WAV, mimeType: 'audio/wav' };
const resource = {
  type: 'resource' as const,
  resource: {
    uri: 'test://embedded-resource',
    mimeType: 'text/plain',
    text: 'This is an embedded resource content.',
  },
};

const createTested = (): McpServer => {
  const server = new McpServer({ name: 'conformance', version: '1.0.0' }, { capabilities: { logging: {} } });
  if (process.env.MCP_GUARD !== undefined)
    guardTools(server, {
      verifier: { verify: () => Promise.reject(new Error('nothing is guarded')) },
      origin: 'https://shop.example',
      tools: Object.fromEntries(
        [...NAMES, 'json_schema_2020_12_tool'].map((name) => [name, 'free' as const]),
      ),
    });
  const answer = (name: string, content: (typeof text | typeof image | typeof audio | typeof resource)[]) =>
    server.registerTool(name, { description: name }, () => ({ content }));
  answer('test_simple_text', [text]);
  answer('test_image_content', [image]);
  answer('test_audio_content', [audio]);
  answer('test_embedded_resource', [resource]);
  answer('test_multiple_content_types', [text, image, resource]);
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool('test_tool_with_logging', { description: 'Logs' }, async (extra) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { content: [text] };
  });
  server.registerTool('test_tool_with_progress', { description: 'Reports progress' }, async (extra) => {
    const progressToken = extra._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      await extra.sendNotification({ method: 'notifications/progress', params });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { content: [text] };
  });
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Takes a name', inputSchema: { name: z.string() } },
    () => ({
      content: [text],
    }),
  );
  return server;
};

const http = createServer(async (request, response) => {
  const transport = new StreamableHTTPServerTransport({});
  response.once('close', () => void transport.close());
  await createTested().connect(transport as never);
  await transport.handleRequest(request, response);
});
http.listen(0, '127.0.0.1', () => console.log((http.address() as AddressInfo).port));
process.stdin.resume().once('end', () => process.exit(0));
