/**
 * Calls MCP tools with the Grant and a Proof made for this call only. The client is that of
 * `@modelcontextprotocol/sdk`, over any transport; only its `callTool` is used.
 */
import type { Action } from '@svc/protocol';
import {
  aFunction,
  anObjectWith,
  aText,
  optionally,
  type Rules,
  readArgument,
} from '@svc/sdk-core/arguments';
import { withHelp } from '@svc/sdk-core/help';
import { anOriginOfTools, META, toolRequest } from '@svc/sdk-core/tool-call';
import { type Agent, anAgent } from './agent-key.ts';
import { checkGrant } from './check-grant.ts';
import { anAudience, signProof } from './sign-proof.ts';

/** A call as `Client.callTool` takes it. */
export interface ToolCall {
  name: string;
  arguments?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

/** The members of a client that are used. */
export interface ToolClient<Rest extends unknown[], Result> {
  /** Calls a tool. */
  callTool(call: ToolCall, ...rest: Rest): Promise<Result>;
}

/** The Agent, its Grant, and the client whose tools are called. */
export interface AgentToolsOptions<Rest extends unknown[], Result> {
  client: ToolClient<Rest, Result>;
  agent: Agent;
  /** The Grant that was issued to this Agent. */
  grant: string;
  /** DID of the relying party that offers the tools. */
  audience: string;
  /** Scheme, host and port under which the relying party names its tools. */
  origin: string;
  /** The Action of a call, if the relying party treats it as another Action than an `api:call`; else null. */
  action?: (call: ToolCall) => Action | null;
  /** The service's address, so that errors name their page of its guide (`helpUrl`). No request is sent there. */
  baseUrl?: string;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

const RULES: Rules<AgentToolsOptions<unknown[], unknown>> = {
  client: anObjectWith('a client of @modelcontextprotocol/sdk', [], ['callTool']),
  agent: anAgent,
  grant: aText('the Grant as issued: a string'),
  audience: anAudience,
  origin: anOriginOfTools,
  action: optionally(aFunction()),
  baseUrl: optionally(aText()),
  now: optionally(aFunction()),
};

/**
 * Makes a `callTool` that adds the Grant and a Proof. The Proof is valid for one call with exactly these arguments; a
 * repeated call signs a new one.
 * @throws SvcError `invalid-argument`, also if the Grant is not for this Agent or this relying party
 * @example
 * const callTool = createToolCaller({ client: mcp, agent, grant, audience: 'did:web:shop.example', origin: 'https://shop.example' });
 * const { isError, content } = await callTool({ name: 'refund', arguments: { order: '7' } });
 */
export function createToolCaller<Rest extends unknown[], Result>(
  options: AgentToolsOptions<Rest, Result>,
): (call: ToolCall, ...rest: Rest) => Promise<Result> {
  const { baseUrl } = Object(options) as Partial<AgentToolsOptions<Rest, Result>>;
  const callTool = withHelp(baseUrl, () => callerOf(options));
  return (...call) => withHelp(baseUrl, () => callTool(...call));
}

function callerOf<Rest extends unknown[], Result>(
  options: AgentToolsOptions<Rest, Result>,
): (call: ToolCall, ...rest: Rest) => Promise<Result> {
  const read = readArgument('createToolCaller', options as AgentToolsOptions<unknown[], unknown>, RULES);
  const grant = checkGrant(read);
  const clock = read.now === undefined ? {} : { now: read.now };
  return async (call, ...rest) => {
    // The call as JSON, as the transport sends it: values without a JSON form are gone, and later changes have no
    // effect.
    const sent = JSON.parse(JSON.stringify(call)) as ToolCall;
    const { method, url } = toolRequest(read.origin, sent.name, sent.arguments);
    const action = read.action?.(sent) ?? { type: 'api:call', method, resource: url };
    const { agent, audience } = read;
    const proof = await signProof({
      agent,
      grantId: grant.id,
      audience,
      method,
      url,
      action,
      ...clock,
    });
    const _meta = { ...sent._meta, [META.grant]: read.grant, [META.proof]: proof };
    return options.client.callTool({ ...sent, _meta }, ...rest);
  };
}
