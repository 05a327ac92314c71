/** The guard for tools that run as tasks, for every copy of the SDK from which a server may be made. */
import { createRequire } from 'node:module';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport as HttpTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolResultSchema, CreateTaskResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeEach, expect, it, vi } from 'vitest';
import { type GuardOptions, getToolAuthority, guardTools } from '../src/mcp.ts';
import { createCallChecks } from '../src/mcp-input.ts';

const { McpServer: OtherCopy } = createRequire(import.meta.url)(
  '@modelcontextprotocol/sdk/server/mcp.js',
) as {
  McpServer: typeof McpServer;
};
const INFO = { name: 'shop', version: '1.0.0' };
const receipt = { receipt_id: 'drc_2', decision: 'ALLOW', agent: 'did:key:zA' };
const allowed = { allowed: true, authority: {}, receipt };
const verify = vi.fn<GuardOptions['verifier']['verify']>();
const _meta = { 'svc/grant': 'g', 'svc/proof': 'p' };
beforeEach(() => void verify.mockReset().mockResolvedValue(allowed as never));

/** A shop with a tool for each kind of task support. */
const createShop = (Made: typeof McpServer = McpServer, taskStore = new InMemoryTaskStore()): McpServer => {
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  const server = new Made(INFO, { capabilities: { tasks }, taskStore });
  guardTools(server, { verifier: { verify }, origin: 'https://shop.example' });
  for (const taskSupport of ['required', 'optional'] as const)
    server.experimental.tasks.registerToolTask(
      taskSupport,
      { execution: { taskSupport } },
      {
        createTask: async (extra) => {
          const { agent, receiptId } = getToolAuthority(extra);
          const task = await extra.taskStore.createTask({ ttl: 60_000, pollInterval: 1 });
          const content = [{ type: 'text', text: `for ${agent} by ${receiptId}` }];
          await extra.taskStore.storeTaskResult(task.taskId, 'completed', { content });
          return { task };
        },
        getTask: async ({ taskId, taskStore }) => taskStore.getTask(taskId),
        getTaskResult: async ({ taskId, taskStore }) => (await taskStore.getTaskResult(taskId)) as never,
      },
    );
  server.registerTool('plain', {}, () => ({ content: [{ type: 'text', text: 'it ran' }] }));
  server.registerTool('misconfigured', {}, () => ({ content: [] })).execution = { taskSupport: 'optional' };
  return server;
};

const clientOf = async (server: McpServer): Promise<Client> => {
  const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
  await server.connect(ofServer);
  const client = new Client(INFO);
  await client.connect(ofClient);
  return client;
};
const asTask = (name: string) => ({ method: 'tools/call' as const, params: { name, _meta, task: {} } });

it.each([
  ['this copy', McpServer],
  ['another copy', OtherCopy],
])(
  'a tool that runs as a task has its authority and returns its Receipt, in %s of the SDK',
  async (_, Made) => {
    const client = await clientOf(createShop(Made));
    const created = await client.request(asTask('required'), CreateTaskResultSchema);
    expect(created._meta).toMatchObject({ 'svc/receipt': receipt });
    const { taskId } = created.task;
    const result = { method: 'tasks/result' as const, params: { taskId } };
    expect(JSON.stringify(await client.request(result, CallToolResultSchema))).toMatch(
      /for did:key:zA by drc_2/,
    );
    // Called without a task: the server waits for the task and answers with its result.
    const answered = await client.callTool({ name: 'optional', _meta });
    expect(JSON.stringify(answered.content)).toMatch(/for did:key:zA by drc_2/);
    expect(answered._meta).toMatchObject({ 'svc/receipt': receipt });
    await client.close();
  },
);

it('a call that the server would not run as requested is refused without asking the service', async () => {
  const client = await clientOf(createShop());
  const called = async (name: string) => JSON.stringify(await client.callTool({ name, _meta }));
  expect(await called('required')).toMatch(/INVALID_REQUEST: This tool runs as a task alone/);
  expect(await called('misconfigured')).toMatch(/INVALID_REQUEST: This tool is not set up/);
  for (const name of ['unknown', 'plain', 'misconfigured'])
    await expect(client.request(asTask(name), CreateTaskResultSchema)).rejects.toMatchObject({
      code: -32_600,
      data: { 'svc/refusal': { reason: 'INVALID_REQUEST' } },
    });
  expect(verify).not.toHaveBeenCalled();
  await client.close();
});

it('a DENY of a call as a task is an error with its Receipt', async () => {
  const denied = { receipt_id: 'drc_3', decision: 'DENY' };
  verify.mockResolvedValue({ allowed: false, reason: 'GRANT_REVOKED', receipt: denied } as never);
  const client = await clientOf(createShop());
  await expect(client.request(asTask('required'), CreateTaskResultSchema)).rejects.toMatchObject({
    data: { 'svc/receipt': denied, 'svc/refusal': { reason: 'GRANT_REVOKED' } },
  });
  await client.close();
});

/** Sends over HTTP, with `session`. */
const post = async (transport: HttpTransport, method: string, params: object, session?: string) => {
  const headers = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  });
  if (session !== undefined) headers.set('mcp-session-id', session);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await transport.handleRequest(
    new Request('http://shop.example/mcp', { method: 'POST', headers, body }),
  );
  return { text: await response.text(), session: response.headers.get('mcp-session-id') ?? undefined };
};
const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO };

it('the result of a guarded task can be read only in the session that created it', async () => {
  const store = new InMemoryTaskStore();
  const opened = async () => {
    const transport = new HttpTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      enableJsonResponse: true,
    });
    await createShop(McpServer, store).connect(transport);
    const { session } = await post(transport, 'initialize', begin);
    return async (method: string, params: object) => (await post(transport, method, params, session)).text;
  };
  const [own, other] = [await opened(), await opened()];
  const { taskId } = JSON.parse(await own('tools/call', asTask('required').params)).result.task;
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
    expect(await other(method, { taskId })).toMatch(/"error".*not found/);
  expect(await other('tasks/list', {})).not.toContain(taskId);
  expect(await own('tasks/result', { taskId })).toMatch(/for did:key:zA/);
});

it('over HTTP without sessions a guarded tool is refused as a task, since anybody with its id could read the result', async () => {
  const transport = new HttpTransport({ enableJsonResponse: true });
  await createShop().connect(transport);
  const { text } = await post(transport, 'tools/call', asTask('required').params);
  expect(text).toMatch(/INVALID_REQUEST: A guarded tool runs as a task within a session alone/);
  expect(verify).not.toHaveBeenCalled();
});

it('over HTTP without sessions a guarded tool that may run as a task is refused, and creates none', async () => {
  const store = new InMemoryTaskStore();
  // As such servers are usually written: one server per request, with one shared store.
  const asked = async (method: string, params: object) => {
    const transport = new HttpTransport({ enableJsonResponse: true });
    await createShop(McpServer, store).connect(transport);
    return (await post(transport, method, params)).text;
  };
  expect(await asked('tools/call', { name: 'optional', _meta })).toMatch(
    /INVALID_REQUEST: A guarded tool runs as a task within a session alone/,
  );
  expect(JSON.parse(await asked('tasks/list', {})).result.tasks).toEqual([]);
  expect(verify).not.toHaveBeenCalled();
  expect(await asked('tools/call', { name: 'plain', _meta })).toMatch(/it ran/);
});

it('where an SDK has no known list of tools, a call is not refused', async () => {
  const { findFault } = createCallChecks({} as McpServer);
  expect(await findFault({ name: 'plain', args: {}, isTask: false, extra: {} })).toBeNull();
});

it('calls that share a signal each have their own authority', async () => {
  const server = new McpServer(INFO);
  guardTools(server, { verifier: { verify }, origin: 'https://shop.example' });
  const { signal } = new AbortController();
  const extras = ['drc_a', 'drc_b'].map((id) => ({ id, extra: { signal } }));
  server.server.fallbackRequestHandler = async () => ({ content: [] });
  for (const { id, extra } of extras) {
    verify.mockResolvedValueOnce({ ...allowed, receipt: { ...receipt, receipt_id: id } } as never);
    const call = { method: 'tools/call', params: { name: 'plain', _meta } };
    await server.server.fallbackRequestHandler?.(call as never, extra as never);
  }
  for (const { id, extra } of extras) expect(getToolAuthority(extra).receiptId).toBe(id);
  // A copy is identified by the signal.
  expect(getToolAuthority({ ...extras[1]?.extra }).receiptId).toBe('drc_b');
});
