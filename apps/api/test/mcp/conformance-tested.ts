/**
 * What the public MCP conformance suite requires of a server. Where MCP_GUARD is set the guard is in front of it, and
 * none of its tools is guarded.
 */
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
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
  ...['test_sampling', 'test_elicitation'],
  ...['test_elicitation_sep1034_defaults', 'test_elicitation_sep1330_enums'],
];
/** An image of one pixel, and a silent sound. */
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

/** A server with everything that the suite requires. */
export const createTested = (): McpServer => {
  const server = new McpServer(
    { name: 'conformance', version: '1.0.0' },
    { capabilities: { logging: {}, resources: { subscribe: true } } },
  );
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
  addQuestions(server);
  addPrompts(server);
  addResources(server);
  return server;
};

const said = (line: string) => ({ content: [{ type: 'text' as const, text: line }] });

/** Adds tools that send requests to their client. */
const addQuestions = (server: McpServer): void => {
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of its client', inputSchema: { prompt: z.string() } },
    async ({ prompt }, { sendRequest }) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }];
      const { content } = await sendRequest(
        { method: 'sampling/createMessage', params: { messages, maxTokens: 100 } },
        CreateMessageResultSchema,
      );
      return said(`LLM response: ${'text' in content ? content.text : ''}`);
    },
  );
  const asks = (name: string, properties: object, required: readonly string[] = []) =>
    server.registerTool(
      name,
      { description: 'Asks the user of its client', inputSchema: { message: z.string().optional() } },
      async ({ message = 'Please answer' }, { sendRequest }) => {
        const requestedSchema = { type: 'object', properties, required };
        const { action, content } = await sendRequest(
          { method: 'elicitation/create', params: { message, requestedSchema } } as never,
          ElicitResultSchema,
        );
        return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
      },
    );
  asks('test_elicitation', { username: { type: 'string' }, email: { type: 'string' } }, [
    'username',
    'email',
  ]);
  asks('test_elicitation_sep1034_defaults', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  });
  const titled = (title: string) => [1, 2, 3].map((n) => ({ const: `value${n}`, title: `${title} ${n}` }));
  const options = ['option1', 'option2', 'option3'];
  asks('test_elicitation_sep1330_enums', {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled('Option') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
  });
};

const addPrompts = (server: McpServer): void => {
  const user = <Content>(content: Content) => ({ role: 'user' as const, content });
  const line = (words: string) => user({ type: 'text' as const, text: words });
  server.registerPrompt('test_simple_prompt', { description: 'One message' }, () => ({
    messages: [line('This is a simple prompt for testing.')],
  }));
  const any = completable(z.string(), (value) => [`${value}is`, `${value}ty`]);
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema: { arg1: any, arg2: z.string() } },
    (of) => ({
      messages: [line(`Prompt with arguments: arg1='${of.arg1}', arg2='${of.arg2}'`)],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: { resourceUri: z.string() } },
    ({ resourceUri: uri }) => ({
      messages: [
        user({ type: 'resource' as const, resource: { ...resource.resource, uri } }),
        line('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'With a picture' }, () => ({
    messages: [user(image), line('Please analyze the image above.')],
  }));
};

const addResources = (server: McpServer): void => {
  const holds = (
    uri: string,
    content: { mimeType: string; text: string } | { mimeType: string; blob: string },
  ) => server.registerResource(uri, uri, {}, () => ({ contents: [{ uri, ...content }] }));
  holds('test://static-text', {
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  });
  holds('test://static-binary', { mimeType: 'image/png', blob: PNG });
  holds('test://watched-resource', { mimeType: 'text/plain', text: 'It never changes.' });
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, {}, ({ href: uri }, { id }) => ({
    contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }],
  }));
  for (const schema of [SubscribeRequestSchema, UnsubscribeRequestSchema])
    server.server.setRequestHandler(schema, () => ({}));
};
