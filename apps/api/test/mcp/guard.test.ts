/**
 * The MCP guard of @svc/sdk-rp and the caller of @svc/sdk-principal: client and server in two processes, with a running
 * API.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { apiCall, purchase } from '@svc/sdk-principal';
import { type Action, createToolCaller, type ToolCall } from '@svc/sdk-principal/agent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../world/api-node.ts';
import { withDeployment } from '../world/deployment.ts';
import type { Tenants } from '../world/tenants.ts';

const deployment = withDeployment();
const ORIGIN = 'https://shop.example';
const PROGRAM = fileURLToPath(new URL('shop-server.ts', import.meta.url));
const ARGS = ['--conditions=svc-source', '--import', import.meta.resolve('tsx'), PROGRAM];

interface Said {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly _meta?: Record<string, unknown>;
}
const textOf = ({ content }: Said) => content[0]?.text;
const refusalOf = ({ isError, _meta }: Said) =>
  isError === true ? Object(_meta?.['svc/refusal']).reason : null;

let tenants: Tenants;
const clients: Partial<Record<'stdio' | 'streamable HTTP', Client>> = {};
const newClient = () => new Client({ name: 'agent', version: '1.0.0' });

beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  const env = {
    ...{ SVC_URL: deployment.process.baseUrl, SVC_DID: `did:web:${DOMAIN}` },
    ...{ SHOP_DID: tenants.rpDid, SVC_RP_KEY: tenants.rpKey, PATH: process.env.PATH ?? '' },
  };
  const transport = new StdioClientTransport({ command: process.execPath, args: ARGS, env, stderr: 'pipe' });
  const named = once(createInterface({ input: transport.stderr as Readable }), 'line');
  clients.stdio = newClient();
  await clients.stdio.connect(transport as never);
  const [port] = await named;
  clients['streamable HTTP'] = newClient();
  const overHttp = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}`));
  await clients['streamable HTTP'].connect(overHttp as never);
});
afterAll(async () => {
  await clients['streamable HTTP']?.close();
  await clients.stdio?.close();
});

describe.each(['stdio', 'streamable HTTP'] as const)('a guarded server over %s', (kind) => {
  const client = { callTool: (call: ToolCall) => (clients[kind] as Client).callTool(call as never) };

  /** A caller with a new Grant, and the message that it sent last. */
  const callerUnder = async (
    capabilities: Parameters<Tenants['principal']['grants']['issue']>[0]['capabilities'],
  ) => {
    const { agent, principal, rpDid: audience } = tenants;
    const { grant, grantId } = await principal.grants.issue({ agent: agent.did, capabilities });
    const sent: ToolCall[] = [];
    const watched = {
      callTool: async (call: ToolCall): Promise<Said> => {
        sent.push(call);
        return (await client.callTool(call)) as unknown as Said;
      },
    };
    const action = ({ name, arguments: { order, amount } = {} }: ToolCall): Action | null =>
      name === 'buy'
        ? { type: 'commerce:purchase', resource: `order/${order}`, amount: Number(amount), currency: 'USD' }
        : null;
    const call = createToolCaller({ client: watched, agent, grant, audience, origin: ORIGIN, action });
    return { call, sent, grantId, again: (one: ToolCall) => watched.callTool(one) };
  };
  const budgeted = purchase({
    maxAmountMinor: 500,
    currency: 'USD',
    resources: ['order/*'],
    maxTotalMinor: 1000,
  });

  it('allows purchases with their Receipts until the budget is spent', async () => {
    const { call, grantId } = await callerUnder([budgeted]);
    const bought = await call({ name: 'buy', arguments: { order: '7', amount: 400 } });
    expect(textOf(bought)).toBe(`buy 7 400 for ${tenants.agent.did}`);
    expect(bought._meta?.['svc/receipt']).toMatchObject({ decision: 'ALLOW', grant_id: grantId });
    expect(refusalOf(await call({ name: 'buy', arguments: { order: '8', amount: 400 } }))).toBeNull();
    const denied = await call({ name: 'buy', arguments: { order: '9', amount: 400 } });
    expect(denied._meta?.['svc/receipt']).toMatchObject({
      decision: 'DENY',
      reason: 'AMOUNT_EXCEEDS_AUTHORITY',
    });
    expect(textOf(denied)).toMatch(
      /^AMOUNT_EXCEEDS_AUTHORITY: The amount is above what the Grant allows, or too little is left of its budget\. \S/,
    );
    const { capabilities } = await tenants.principal.grants.consumptionPage(grantId);
    expect(capabilities).toMatchObject([{ spent_total: 800 }]);
  });

  it('refuses a replay, a changed amount, and a changed argument that is not part of the Action', async () => {
    const { call, sent, again } = await callerUnder([budgeted]);
    await call({ name: 'buy', arguments: { order: '7', amount: 10, note: 'a' } });
    const [first] = sent;
    expect(refusalOf(await again(first as ToolCall))).toBe('PROOF_REPLAYED');
    const changed = async (args: Record<string, unknown>) => {
      const unsent = await callNotSent();
      return refusalOf(await again({ ...unsent, arguments: { ...unsent.arguments, ...args } }));
    };
    expect(await changed({})).toBeNull();
    expect(await changed({ amount: 11 })).toBe('REQUEST_MISMATCH');
    expect(await changed({ note: 'b' })).toBe('REQUEST_MISMATCH');
  });

  /** Makes a tool call with its Proof and does not send it. */
  const callNotSent = async (): Promise<ToolCall> => {
    const { agent, principal, rpDid: audience } = tenants;
    const { grant } = await principal.grants.issue({ agent: agent.did, capabilities: [budgeted] });
    const kept: ToolCall[] = [];
    const keeping = { callTool: async (call: ToolCall) => void kept.push(call) };
    const action = () =>
      ({ type: 'commerce:purchase', resource: 'order/7', amount: 10, currency: 'USD' }) as const;
    const call = createToolCaller({ client: keeping, agent, grant, audience, origin: ORIGIN, action });
    await call({ name: 'buy', arguments: { order: '7', amount: 10, note: 'a' } });
    return kept[0] as ToolCall;
  };

  it('does not draw on a budget for arguments that the tool refuses or that differ from the signed ones', async () => {
    const { call, grantId } = await callerUnder([
      apiCall({ methods: ['POST'], resources: [`${ORIGIN}/mcp/tools/**`], maxUses: 1 }),
    ]);
    const used = async () => (await tenants.principal.grants.consumptionPage(grantId)).capabilities;
    for (const text of ['{"order":7}', '{"amount":1}', '{"order":"7","note":"x","amount":"1"}']) {
      const refused = await call({ name: 'refund', arguments: JSON.parse(text) });
      expect(refusalOf(refused)).toBe('INVALID_REQUEST');
      expect(textOf(refused)).toMatch(/^INVALID_REQUEST: The tool does not take these arguments/);
      expect(refused._meta).not.toHaveProperty('svc/receipt');
    }
    const hidden = JSON.parse('{"order":"7","__proto__":{"amount":9}}');
    expect(refusalOf(await call({ name: 'refund', arguments: hidden }))).toMatch(
      /^INVALID_REQUEST$|^REQUEST_MISMATCH$/,
    );
    expect(refusalOf(await call({ name: 'refnd', arguments: { order: '7' } }))).toBe('INVALID_REQUEST');
    expect(await used()).toEqual([]);
    expect(textOf(await call({ name: 'refund', arguments: { order: '7', amount: 2 } }))).toMatch(
      /^refund 7 2 /,
    );
    expect(await used()).toMatchObject([{ uses_spent: 1 }]);
  });

  it('guards a tool that is not configured by its URL as the resource', async () => {
    const { call } = await callerUnder([
      apiCall({ methods: ['POST'], resources: [`${ORIGIN}/mcp/tools/refund/*`] }),
    ]);
    expect(textOf(await call({ name: 'refund', arguments: { order: '7', amount: 1.5 } }))).toMatch(
      /^refund 7 1.5/,
    );
    expect(refusalOf(await call({ name: 'cancel', arguments: { order: '7' } }))).toBe(
      'RESOURCE_NOT_AUTHORIZED',
    );
    expect(refusalOf(await call({ name: 'wipe', arguments: { order: '7' } }))).toBe('FORBIDDEN');
  });

  it('requires no Grant for a free tool, and a Grant and a Proof for every other', async () => {
    const plain = async (name: string) =>
      (await client.callTool({ name, arguments: { order: '7' } })) as unknown as Said;
    expect(textOf(await plain('search'))).toBe('search 7');
    for (const name of ['buy', 'refund', 'toString', '..']) {
      const refused = await plain(name);
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).not.toContain(' for did:key:');
    }
    expect(refusalOf(await plain('refund'))).toBe('UNAUTHORIZED');
    expect(refusalOf(await plain('wipe'))).toBe('FORBIDDEN');
  });
});
