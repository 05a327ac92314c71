/** The guard of an MCP server, for every copy of the SDK from which the server may be made. */
import { createRequire } from 'node:module';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js';
import { SvcError } from '@svc/sdk-core';
import { toolRequest } from '@svc/sdk-core/tool-call';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { type GuardOptions, getToolAuthority, guardTools } from '../src/mcp.ts';
import { ReceiptError } from '../src/receipt-error.ts';
import { RequestMismatchError } from '../src/request-mismatch.ts';
import { newProof } from './world.ts';

const require = createRequire(import.meta.url);
const { McpServer: OtherCopy } = require('@modelcontextprotocol/sdk/server/mcp.js') as {
  McpServer: typeof McpServer;
};
const { Server: OtherServer } = require('@modelcontextprotocol/sdk/server/index.js') as {
  Server: typeof Server;
};
const { CallToolRequestSchema: otherSchema } = require('@modelcontextprotocol/sdk/types.js') as {
  CallToolRequestSchema: typeof CallToolRequestSchema;
};

const ran = () => ({ content: [{ type: 'text' as const, text: 'it ran' }] });
const TOOLS = ['guarded', 'forbidden', 'free', 'described'];
const action = vi.fn(
  () => ({ type: 'api:call', method: 'POST', resource: 'https://shop.example/' }) as const,
);
const verify = vi.fn<GuardOptions['verifier']['verify']>(() => Promise.reject(new Error('secret')));
const onError = vi.fn();
const options: GuardOptions = {
  verifier: { verify },
  origin: 'https://shop.example',
  tools: { forbidden: 'forbidden', free: 'free', described: { action } },
  onError,
};

const INFO = { name: 'shop', version: '1.0.0' };
const low = (made: Server) => {
  guardTools(made, options);
  return made;
};
const servers: readonly (readonly [string, () => Pick<McpServer, 'connect'>])[] = [
  ...[McpServer, OtherCopy].map((Made, n) => {
    const make = () => {
      const server = new Made(INFO);
      guardTools(server, options);
      for (const name of TOOLS) server.registerTool(name, {}, ran);
      return server;
    };
    return [n === 0 ? 'of this copy of the SDK' : 'of another copy of the SDK', make] as const;
  }),
  [
    'with its own handler',
    () => {
      const server = low(new Server(INFO, { capabilities: { tools: {} } }));
      server.setRequestHandler(CallToolRequestSchema, ran);
      return server;
    },
  ],
  [
    'of another SDK copy, with its own handler',
    () => {
      const server = low(new OtherServer(INFO, { capabilities: { tools: {} } }));
      server.setRequestHandler(otherSchema, ran);
      return server;
    },
  ],
  [
    'that answers from its fallback',
    () => {
      const server = low(new Server(INFO, { capabilities: { tools: {} } }));
      server.fallbackRequestHandler = async () => ran();
      return server;
    },
  ],
];

const clientOf = async (make: () => Pick<McpServer, 'connect'>): Promise<Client> => {
  const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
  await make().connect(ofServer);
  const client = new Client(INFO);
  await client.connect(ofClient);
  return client;
};

it.each(servers)('a server %s runs only free tools without a Grant and a Proof', async (_, make) => {
  const client = await clientOf(make);
  const textOf = async (name: string) => JSON.stringify((await client.callTool({ name })).content);
  expect(await textOf('guarded')).toMatch(/UNAUTHORIZED/);
  expect(await textOf('forbidden')).toMatch(/FORBIDDEN/);
  expect(await textOf('free')).toMatch(/it ran/);
  await client.close();
});

it('without a Grant and a Proof neither `action` nor `onError` is called', async () => {
  const client = await clientOf(servers[0]?.[1] ?? (() => new McpServer(INFO)));
  expect(JSON.stringify(await client.callTool({ name: 'described' }))).toMatch(/UNAUTHORIZED/);
  expect(action).not.toHaveBeenCalled();
  expect(onError).not.toHaveBeenCalled();
  await client.close();
});

it('a tool does not run where verification fails, and only `onError` receives the error', async () => {
  const client = await clientOf(servers[0]?.[1] ?? (() => new McpServer(INFO)));
  const answer = await client.callTool({ name: 'guarded', _meta: { 'svc/grant': 'g', 'svc/proof': 'p' } });
  expect(JSON.stringify(answer)).toMatch(/SERVICE_UNAVAILABLE/);
  expect(JSON.stringify(answer)).not.toMatch(/secret/);
  expect(onError).toHaveBeenCalledExactlyOnceWith(new Error('secret'), 'guarded');
  await client.close();
});

it('guardTools refuses a server that has tools already, and getToolAuthority throws without a guard', () => {
  const server = new McpServer(INFO);
  server.registerTool('early', {}, ran);
  const named = new McpServer(INFO, { capabilities: { tools: {} } });
  for (const late of [server, named])
    expect(() => guardTools(late, options)).toThrow(
      /tools\/call already.*leave tools out of the capabilities/,
    );
  expect(() => getToolAuthority({})).toThrow(/no guard/);
});

/** The request as a server that parses requests itself gets it: the SDK has not checked its form. */
const raw = async (params: Record<string, unknown>) => {
  const [, make] = servers.find(([what]) => what === 'that answers from its fallback') ?? [];
  const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
  await make?.().connect(ofServer);
  const answered = new Promise<string>((resolve) => {
    ofClient.onmessage = (message) => resolve(JSON.stringify(message));
  });
  await ofClient.start();
  await ofClient.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return answered;
};
const presented = { 'svc/grant': 'g', 'svc/proof': 'p' };

it('a tool name that is no string runs nothing, and the service is not asked', async () => {
  verify.mockClear();
  for (const name of [['forbidden'], ['free'], 5, null, { toString: 'free' }])
    expect(await raw({ name, arguments: {}, _meta: presented })).toMatch(/"code":-32602/);
  expect(await raw({ name: 'free' })).toMatch(/it ran/);
  expect(await raw({ name: 'guarded', arguments: null })).toMatch(/UNAUTHORIZED/);
  expect(verify).not.toHaveBeenCalled();
});

it('a Grant or Proof that is too long is refused without asking the service', async () => {
  verify.mockClear();
  const long = 'x'.repeat(20_000);
  for (const _meta of [
    { ...presented, 'svc/grant': long },
    { ...presented, 'svc/proof': long },
  ])
    expect(await raw({ name: 'guarded', _meta })).toMatch(/INVALID_REQUEST.*too long/);
  expect(verify).not.toHaveBeenCalled();
});

it('a call without arguments is the same as one with {}, but not as one with null', async () => {
  const addressOf = async (params: object) => {
    verify.mockClear();
    await raw({ name: 'guarded', _meta: presented, ...params });
    return verify.mock.calls[0]?.[0].request.url;
  };
  const none = await addressOf({});
  expect(none).toMatch(/^https:\/\/shop\.example\/mcp\/tools\/guarded\/44136fa3/);
  expect(await addressOf({ arguments: {} })).toBe(none);
  expect(await addressOf({ arguments: null })).not.toBe(none);
});

it('a Proof for another call is refused before the service is asked, so it is not spent', async () => {
  verify.mockClear();
  const addressOf = (args: object) => toolRequest('https://shop.example', 'described', args).url;
  const proof = await newProof({ url: addressOf({ note: 'a' }) });
  const call = (note: string) =>
    raw({ name: 'described', arguments: { note }, _meta: { ...presented, 'svc/proof': proof } });
  expect(await call('b')).toMatch(/REQUEST_MISMATCH/);
  expect(verify).not.toHaveBeenCalled();
  expect(await call('a')).toMatch(/SERVICE_UNAVAILABLE/);
  expect(verify).toHaveBeenCalledOnce();
});

it('a call that the server itself described as nothing is not to be tried again', async () => {
  verify.mockRejectedValueOnce(new SvcError('invalid-argument', 'action must be an object'));
  const { url } = toolRequest('https://shop.example', 'described', {});
  const _meta = { ...presented, 'svc/proof': await newProof({ url }) };
  const answer = await raw({ name: 'described', _meta });
  expect(answer).toMatch(/CONFIGURATION: This server has not described the call. Do not try again/);
});

it('an ALLOW for another request runs nothing, and the refusal has its Receipt', async () => {
  const { url } = toolRequest('https://shop.example', 'guarded', {});
  const received = { method: 'POST', url };
  const receipt = { receipt_id: 'drc_1', decision: 'ALLOW' } as never;
  verify.mockRejectedValueOnce(new RequestMismatchError(receipt, received, null));
  const answer = await raw({ name: 'guarded', _meta: presented });
  expect(answer).toMatch(/REQUEST_MISMATCH.*"svc\/receipt":\{"receipt_id":"drc_1"/);
  expect(answer).not.toMatch(/it ran/);
});

it.each(['{"__proto__":{"amount":1}}', '{"note":[{"of":{"__proto__":null}}]}'])(
  'arguments with a member __proto__ are refused before the service is asked: %s',
  async (text) => {
    verify.mockClear();
    const args = JSON.parse(text);
    const proof = await newProof({ url: toolRequest('https://shop.example', 'guarded', args).url });
    const answer = await raw({
      name: 'guarded',
      arguments: args,
      _meta: { ...presented, 'svc/proof': proof },
    });
    expect(answer).toMatch(/INVALID_REQUEST.*__proto__/);
    expect(verify).not.toHaveBeenCalled();
  },
);

it.each([
  ['this copy', McpServer],
  ['another copy', OtherCopy],
])(
  'a call that the tool itself would refuse is refused before the service is asked, in %s of the SDK',
  async (_, Made) => {
    verify.mockClear();
    onError.mockClear();
    const server = new Made(INFO);
    guardTools(server, options);
    const inputSchema = { order: z.string().regex(/^[0-9]+$/) };
    const registered = server.registerTool('guarded', { inputSchema }, ran);
    const failing = z.string().refine(() => {
      throw new Error('secret of the schema');
    });
    server.registerTool('failing', { inputSchema: { order: failing } }, ran);
    const client = await clientOf(() => server);
    const call = async (name: string, args: Record<string, unknown>) =>
      JSON.stringify(await client.callTool({ name, arguments: args, _meta: presented }));
    for (const args of [{}, { order: 7 }, { order: 'x' }])
      expect(await call('guarded', args)).toMatch(/INVALID_REQUEST: The tool does not take these.*order/);
    const failed = await call('failing', { order: '7' });
    expect(failed).toMatch(/INVALID_REQUEST: The call could not be described/);
    expect(failed).not.toMatch(/secret/);
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: 'secret of the schema' }),
      'failing',
    );
    expect(verify).not.toHaveBeenCalled();
    expect(await call('guarded', { order: '7' })).toMatch(/SERVICE_UNAVAILABLE/);
    expect(verify).toHaveBeenCalledOnce();
    registered.disable();
    expect(await call('guarded', { order: '7' })).toMatch(/INVALID_REQUEST: This tool is disabled/);
    expect(verify).toHaveBeenCalledOnce();
    await client.close();
  },
);

/** The answer on the wire: the SDK's client rebuilds some errors without the rest of their data. */
const wire = async (server: Pick<McpServer, 'connect'>, params: Record<string, unknown>) => {
  const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
  await server.connect(ofServer);
  const answered = new Promise<unknown>((resolve) => {
    ofClient.onmessage = resolve;
  });
  await ofClient.start();
  await ofClient.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return answered;
};
const receipt = { receipt_id: 'drc_2', decision: 'ALLOW' } as never;
const allowOnce = () => verify.mockResolvedValueOnce({ allowed: true, authority: {}, receipt } as never);

it('an error that a tool throws is answered with its data and the Receipt, and is not altered', async () => {
  const elicitation = {
    mode: 'url',
    elicitationId: 'e',
    url: 'https://shop.example/',
    message: 'm',
  } as const;
  const thrown = Object.freeze(new UrlElicitationRequiredError([elicitation]));
  const made = new McpServer(INFO);
  guardTools(made, options);
  made.registerTool('guarded', {}, () => {
    throw thrown;
  });
  allowOnce();
  expect(await wire(made, { name: 'guarded', _meta: presented })).toMatchObject({
    error: { code: -32_042, data: { elicitations: [elicitation], 'svc/receipt': receipt } },
  });
  const cases: readonly (readonly [unknown, object])[] = [
    [Object.freeze(Object.assign(new Error('out of stock'), { code: -1, data: ['a'] })), { data: ['a'] }],
    [new Error('out of stock'), {}],
    [null, {}],
  ];
  for (const [error, data] of cases) {
    const own = low(new Server(INFO, { capabilities: { tools: {} } }));
    own.setRequestHandler(CallToolRequestSchema, () => {
      throw error;
    });
    allowOnce();
    const message = error === null ? 'Internal error' : 'out of stock';
    expect(await wire(own, { name: 'guarded', _meta: presented })).toMatchObject({
      error: { message, data: { ...data, 'svc/receipt': receipt } },
    });
  }
});

it.each([
  ['this copy', McpServer],
  ['another copy', OtherCopy],
])('a call of an unknown tool is refused without asking the service, in %s of the SDK', async (_, Made) => {
  verify.mockClear();
  const server = new Made(INFO);
  guardTools(server, options);
  server.registerTool('guarded', {}, ran);
  const client = await clientOf(() => server);
  for (const name of ['gaurded', 'toString', 'described'])
    expect(JSON.stringify(await client.callTool({ name, _meta: presented }))).toMatch(
      /INVALID_REQUEST: There is no such tool\. .* Nothing was spent/,
    );
  expect(verify).not.toHaveBeenCalled();
  await client.close();
});

it('an McpServer with the shop’s own tools/call handler runs a tool that is not registered, once it is allowed', async () => {
  for (const isLater of [false, true]) {
    const server = new McpServer(INFO);
    guardTools(server, options);
    if (isLater) server.registerTool('another', {}, ran);
    else server.server.registerCapabilities({ tools: {} });
    server.server.setRequestHandler(CallToolRequestSchema, ran);
    allowOnce();
    expect(JSON.stringify(await wire(server, { name: 'guarded', _meta: presented }))).toMatch(/it ran/);
  }
});

it('the schema parses the arguments of a call at most once, and the tool gets the result', async () => {
  let seen = 0;
  const order = z.string().transform((text) => {
    seen += 1;
    return `${text} seen ${seen}`;
  });
  for (const args of [{ order: '7' }, undefined]) {
    const server = new McpServer(INFO);
    guardTools(server, options);
    server.registerTool('guarded', { inputSchema: { order: order.default('none') } }, (input) => ({
      content: [{ type: 'text', text: `order ${input.order}` }],
    }));
    allowOnce();
    seen = 0;
    expect(
      JSON.stringify(await wire(server, { name: 'guarded', arguments: args, _meta: presented })),
    ).toMatch(args === undefined ? /order none/ : /order 7 seen 1"/);
    expect(seen).toBeLessThanOrEqual(1);
  }
});

it('a refusal has the helpUrl of its guide page where the verifier has a public address, and otherwise none', async () => {
  const denied = { receipt_id: 'drc_3', decision: 'DENY' };
  const refusalWith = async (publicUrl: string | undefined, _meta: object) => {
    const server = new McpServer(INFO);
    guardTools(server, {
      ...options,
      verifier: publicUrl === undefined ? { verify } : { verify, publicUrl },
    });
    server.registerTool('guarded', {}, ran);
    verify.mockResolvedValueOnce({ allowed: false, reason: 'GRANT_REVOKED', receipt: denied } as never);
    const { result } = (await wire(server, { name: 'guarded', _meta })) as { result: CallToolResult };
    verify.mockReset();
    return result._meta?.['svc/refusal'];
  };
  const guide = 'https://svc.example/base/guide';
  expect(await refusalWith('https://svc.example/base/', {})).toMatchObject({
    reason: 'UNAUTHORIZED',
    helpUrl: `${guide}/errors/UNAUTHORIZED`,
  });
  expect(await refusalWith('https://svc.example/base/', presented)).toMatchObject({
    reason: 'GRANT_REVOKED',
    helpUrl: `${guide}/reasons/GRANT_REVOKED`,
  });
  expect(await refusalWith(undefined, presented)).not.toHaveProperty('helpUrl');
});

it('a server can be guarded only once, because a second guard would find each Proof spent', () => {
  const server = new McpServer(INFO);
  guardTools(server, options);
  for (const one of [server, server.server])
    expect(() => guardTools(one, options)).toThrow(/guarded already/);
});

it.each(['ftp://shop.example', 'ws://shop.example'])(
  'guardTools refuses an origin that is not http or https: %s',
  (origin) => {
    expect(() => guardTools(new McpServer(INFO), { ...options, origin })).toThrow(/http or https address/);
  },
);

it.each(['cancelled', 'cut off'])(
  'a call that is %s while the service is asked runs nothing, and `onError` gets the Receipt of the ALLOW',
  async (how) => {
    verify.mockClear();
    const onError = vi.fn();
    const server = new McpServer(INFO);
    guardTools(server, { ...options, onError });
    const tool = vi.fn(ran);
    server.registerTool('guarded', {}, tool);
    const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
    await server.connect(ofServer);
    await ofClient.start();
    let allow = () => {};
    verify.mockReturnValueOnce(
      new Promise((resolve) => {
        allow = () => resolve({ allowed: true, authority: {}, receipt } as never);
      }),
    );
    await ofClient.send({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'guarded', _meta: presented },
    });
    await expect.poll(() => verify).toHaveBeenCalledOnce();
    if (how === 'cut off') await server.close();
    else
      await ofClient.send({
        ...{ jsonrpc: '2.0', method: 'notifications/cancelled' },
        params: { requestId: 1 },
      });
    allow();
    await new Promise((resolve) => setImmediate(resolve));
    expect(tool).not.toHaveBeenCalled();
    expect(onError).toHaveBeenCalledOnce();
    const [error, name] = onError.mock.lastCall ?? [];
    expect(error).toBeInstanceOf(ReceiptError);
    expect(error).toMatchObject({ kind: 'aborted', receipt, receiptId: 'drc_2' });
    expect(error.message).toContain('allowed by drc_2');
    expect(name).toBe('guarded');
  },
);

it('the tool gets the arguments as they were when the service was asked, although the caller changes them', async () => {
  const server = new McpServer(INFO);
  guardTools(server, options);
  const seen: unknown[] = [];
  server.registerTool('guarded', { inputSchema: { of: z.looseObject({}) } }, ({ of }) => {
    seen.push(of);
    return ran();
  });
  const args = { of: { amount: 1 } };
  verify.mockImplementationOnce(async () => {
    args.of.amount = 999;
    return { allowed: true, authority: {}, receipt } as never;
  });
  await wire(server, { name: 'guarded', arguments: args, _meta: presented });
  expect(seen).toEqual([{ amount: 1 }]);
});
