/** A guard for MCP servers: a tool runs only if the service has allowed this exact call. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolRequest, CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { type Action, GRANT_MAX_CHARS, PROOF_MAX_CHARS, REASON_TEXTS, type ReasonCode } from '@svc/protocol';
import { REMEDIES } from '@svc/protocol/explain';
import {
  aFunction,
  anObjectWith,
  helpBase,
  helpUrlOf,
  optionally,
  type RefusalCode,
  type Rules,
  readArgument,
  rule,
  SvcError,
} from '@svc/sdk-core';
import { anOriginOfTools, META, type ToolRequest, toolRequest } from '@svc/sdk-core/tool-call';
import { authorityOf, type SvcAuthority } from './authority.ts';
import type { AskedVerifier } from './authorize.ts';
import { isMisdescribed, logError } from './failed-call.ts';
import { type CallChecks, createCallChecks, hasNoSession, hasProtoMember, NO_SESSION } from './mcp-input.ts';
import { ReceiptError } from './receipt-error.ts';
import { mismatchBeforeVerify, mismatchOf } from './request-mismatch.ts';
import type { Verdict } from './verify.ts';

export type { SvcAuthority } from './authority.ts';

/** The arguments of a call as received, before the tool's own schema processes them. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/**
 * - `free`: runs without authority.
 * - `forbidden`: never runs.
 * - `guarded`: the service must allow an `api:call` of the tool's address.
 * - With `action`, the call is an Action of another type, for example a purchase with amount and currency in the
 *   arguments.
 */
export type ToolRule =
  | 'free'
  | 'guarded'
  | 'forbidden'
  | { readonly action: (args: ToolArguments) => Action | Promise<Action> };

/** How the tools of a server are guarded. */
export interface GuardOptions {
  /** If it has a `publicUrl`, refusals name their page of the guide. */
  verifier: AskedVerifier;
  /**
   * Scheme, host and port under which Grants name the tools, for example `https://shop.example` for
   * `https://shop.example/mcp/tools/refund/*`.
   */
  origin: string;
  /** Rules by tool name. Tools without a rule are guarded. */
  tools?: Readonly<Record<string, ToolRule>>;
  /**
   * Receives the cause if a call could not be decided; the answer does not contain it. Also receives a `ReceiptError`
   * of kind `aborted` if a call was cancelled during its decision, and allowed. To give the budget back, report the
   * outcome `cancelled` for its `receiptId`. Unless given, one line is written with `console.error`.
   */
  onError?: (error: unknown, tool: string) => void;
}

const OPTIONS: Rules<GuardOptions> = {
  verifier: anObjectWith('a verifier, as createVerifier makes it', [], ['verify']),
  origin: anOriginOfTools,
  tools: optionally(
    rule(
      '"free", "guarded", "forbidden" or {action} by the name of the tool',
      (value): value is Readonly<Record<string, ToolRule>> =>
        typeof value === 'object' && value !== null && Object.values(value).every(isToolRule),
    ),
  ),
  onError: optionally(aFunction()),
};

const isToolRule = (value: unknown): boolean =>
  value === 'free' ||
  value === 'guarded' ||
  value === 'forbidden' ||
  (typeof value === 'object' && value !== null && 'action' in value && typeof value.action === 'function');

const authorities = new WeakMap<object, SvcAuthority>();

/**
 * A tool that runs as a task gets a copy of the SDK's `extra`. The copy has the same signal, which therefore identifies
 * the call.
 */
const signalOf = (extra: object): object =>
  'signal' in extra && extra.signal instanceof AbortSignal ? extra.signal : extra;

/**
 * The authority of the call for which a tool is running. `extra` is the SDK's second argument to the tool.
 * @throws SvcError `configuration` if the tool was not guarded
 */
export function getToolAuthority(extra: object): SvcAuthority {
  const authority = authorities.get(extra) ?? authorities.get(signalOf(extra));
  if (authority === undefined) throw new SvcError('configuration', 'no guard has allowed this call');
  return authority;
}

/**
 * Guards every tool of the server, also those registered later. Call it before the first tool is registered. A call
 * carries its Grant and Proof in `_meta`, and its result carries the Receipt there. A call that is not allowed gets a
 * tool error that says why and what to do.
 * @throws SvcError `configuration`, also if the server already has tools or was made with the tools capability (the
 * first tool adds it)
 * @example
 * const server = new McpServer({ name: 'shop', version: '1.0.0' });
 * guardTools(server, { verifier, origin: 'https://shop.example', tools: { search: 'free' } });
 * server.registerTool('refund', { description: 'Pays an order back' }, refund);
 */
export function guardTools(server: McpServer | Server, options: GuardOptions): void {
  const read = readArgument('guardTools', options, OPTIONS, 'configuration');
  const inner = 'server' in server ? server.server : server;
  refuseLate(inner);
  refuseTwice(inner);
  const rules = new Map(Object.entries(read.tools ?? {}));
  const checks = createCallChecks(server);
  const guard = (handler: Handler): Handler => {
    const isOwn = checks.isOwnHandler();
    const findFault: CallChecks['findFault'] = async (call) => (isOwn() ? checks.findFault(call) : null);
    const ofTools = guarded(handler, rules, { ...read, findFault });
    return (request, extra) => (isForTools(request) ? ofTools(request, extra) : handler(request, extra));
  };
  const set: (schema: unknown, handler: Handler) => void = inner.setRequestHandler.bind(inner) as never;
  inner.setRequestHandler = ((schema: unknown, handler: Handler) => set(schema, guard(handler))) as never;
  // The fallback handles methods that have no handler.
  let fallback = inner.fallbackRequestHandler;
  Object.defineProperty(inner, 'fallbackRequestHandler', {
    configurable: true,
    get: () => fallback && guard(fallback as unknown as Handler),
    set: (handler: typeof fallback) => {
      fallback = handler;
    },
  });
}

function refuseLate(server: Server): void {
  try {
    server.assertCanSetRequestHandler('tools/call');
  } catch (cause) {
    const what = 'the server answers tools/call already, unguarded';
    const remedy = 'guard it before its first tool, and leave tools out of the capabilities it is made with';
    throw new SvcError('configuration', `guardTools: ${what}: ${remedy}`, { cause });
  }
}

const guardedServers = new WeakSet<Server>();

/** With two guards, each would ask the service, and the second would be answered that the Proof is spent. */
function refuseTwice(server: Server): void {
  if (guardedServers.has(server))
    throw new SvcError('configuration', 'guardTools: the server is guarded already: guard it once');
  guardedServers.add(server);
}

/** The settings and checks of one guard. */
interface Guard extends GuardOptions {
  readonly findFault: CallChecks['findFault'];
}

type Handler = (request: CallToolRequest, extra: object) => Promise<CallToolResult> | CallToolResult;

/**
 * Decided by the method and not by the schema, because a server may have its own copy of the SDK. Guarded if there is
 * no method.
 */
const isForTools = ({ method }: { readonly method?: unknown }): boolean =>
  typeof method !== 'string' || method === 'tools/call';

const guarded =
  (handler: Handler, rules: ReadonlyMap<string, ToolRule>, options: Guard): Handler =>
  async (request, extra) => {
    const params: Partial<CallToolRequest['params']> = request.params ?? {};
    const { name } = params;
    // A server may convert a name such as ["wipe"] to text when it looks up the tool, but the rules here would not
    // match it.
    if (typeof name !== 'string')
      throw Object.assign(new Error('the name of a tool must be a string'), { code: INVALID_PARAMS });
    const toolRule = rules.get(name) ?? 'guarded';
    if (toolRule === 'free') return handler(request, extra);
    // An in-process transport passes the caller's own objects, which the caller could change while the service is
    // asked.
    const args = params.arguments === undefined ? {} : structuredClone(params.arguments);
    const called = { ...params, name, arguments: args };
    const outcome =
      toolRule === 'forbidden'
        ? refuse('FORBIDDEN', 'This tool is not offered to Agents.', 'Do without it: no Grant allows it.')
        : await decide(called, extra, toolRule, options);
    if ('allowed' in outcome) {
      for (const key of [extra, signalOf(extra)]) authorities.set(key, outcome.allowed);
      return withReceipt(outcome.allowed.receipt, () => handler({ ...request, params: called }, extra));
    }
    const { reason, message, remedy } = outcome.refused;
    // The result of a call as a task is not a tool result, and has no member for an error.
    if (params.task !== undefined)
      throw Object.assign(new Error(`${reason}: ${message} ${remedy}`), {
        code: INVALID_REQUEST,
        data: metaOf(outcome.refused, options),
      });
    return resultOf(outcome.refused, options);
  };

/** The tool's result, or the error that it throws, with the Receipt added. */
async function withReceipt(
  receipt: Verdict['receipt'],
  run: () => Promise<CallToolResult> | CallToolResult,
): Promise<CallToolResult> {
  try {
    const result = await run();
    return { ...result, _meta: { ...result._meta, [META.receipt]: receipt } };
  } catch (cause) {
    // A new error, because a tool may throw the same error object repeatedly.
    const { code, message = 'Internal error', data } = Object(cause);
    const told = typeof data === 'object' && !Array.isArray(data) ? data : { data };
    throw Object.assign(new Error(message, { cause }), { code, data: { ...told, [META.receipt]: receipt } });
  }
}

/** JSON-RPC 2.0 §5.1. */
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;

interface Refused {
  readonly refused: {
    readonly reason: ReasonCode | RefusalCode;
    readonly message: string;
    readonly remedy: string;
    /** The Receipt, if the service was asked. */
    readonly receipt: Verdict['receipt'] | null;
  };
}
type Outcome = { readonly allowed: SvcAuthority } | Refused;

async function decide(
  { name, arguments: args = {}, task, _meta: meta }: CallToolRequest['params'],
  extra: object,
  toolRule: ToolRule,
  options: Guard,
): Promise<Outcome> {
  const isTask = task !== undefined;
  const { [META.grant]: grant, [META.proof]: proof } = meta ?? {};
  let called: ToolRequest;
  let action: Action;
  try {
    called = toolRequest(options.origin, name, args);
    if (typeof grant !== 'string' || typeof proof !== 'string') return withoutAuthority(called);
    if (grant.length > GRANT_MAX_CHARS || proof.length > PROOF_MAX_CHARS)
      return refuse(
        'INVALID_REQUEST',
        'The Grant or the Proof is too long.',
        'Send both as they were signed.',
      );
    if (mismatchBeforeVerify(proof, called) !== null) return forAnotherCall();
    const fault = hasProtoMember(args)
      ? 'The arguments have a member "__proto__".'
      : (findSessionFault(isTask, extra) ?? (await options.findFault({ name, args, isTask, extra })));
    if (fault !== null) return refuse('INVALID_REQUEST', fault, CALL_AS_DESCRIBED);
    action = typeof toolRule === 'object' ? await toolRule.action(args) : callOf(called);
  } catch (error) {
    tellError(options, error, name);
    return refuse('INVALID_REQUEST', 'The call could not be described.', CALL_AS_DESCRIBED);
  }
  if (isCancelled(extra)) return cancelled(null);
  let outcome: Outcome;
  try {
    outcome = outcomeOf(await options.verifier.verify({ grant, proof, action, request: called }));
  } catch (error) {
    const mismatch = mismatchOf(error);
    if (mismatch !== null) return forAnotherCall(mismatch.receipt);
    tellError(options, error, name);
    if (isMisdescribed(error))
      return refuse(
        'CONFIGURATION',
        'This server has not described the call.',
        'Do not try again: it cannot help.',
      );
    const remedy = 'Try again later, with a new Proof.';
    return refuse('SERVICE_UNAVAILABLE', 'Authority could not be verified.', remedy);
  }
  if (!('allowed' in outcome) || !isCancelled(extra)) return outcome;
  const { receipt, receiptId } = outcome.allowed;
  const what = `allowed by ${receiptId}, and cancelled before the tool ran; report "cancelled" about it to give its budget back`;
  // No answer carries the Receipt, because the SDK sends none for a cancelled call.
  tellError(options, new ReceiptError('aborted', what, { receipt, receiptId }), name);
  return cancelled(receipt);
}

/** Cancelled by the caller, or by a lost connection: nobody would receive the tool's result. */
const isCancelled = (extra: object): boolean => {
  const signal = signalOf(extra);
  return signal instanceof AbortSignal && signal.aborted;
};

const cancelled = (receipt: Verdict['receipt'] | null): Outcome =>
  refuse(
    'INVALID_REQUEST',
    'The call was cancelled before the tool ran.',
    receipt === null ? CALL_AS_DESCRIBED : 'Call again, with a new Proof.',
    receipt,
  );

/** Applies also to a relying party's own handler, of which it is unknown what it does with `task`. */
const findSessionFault = (isTask: boolean, extra: object): string | null =>
  isTask && hasNoSession(extra) ? NO_SESSION : null;

const withoutAuthority = ({ method, url }: ToolRequest): Outcome => {
  const remedy = `Sign a Proof for ${method} ${url}, and send it with the Grant in _meta as "${META.proof}" and "${META.grant}".`;
  return refuse('UNAUTHORIZED', 'This tool takes a Grant and a Proof.', remedy);
};

const CALL_AS_DESCRIBED =
  'Call the tool with arguments as its description has them, and a Proof for those. Nothing was spent for this call.';

/** Includes the Receipt if the service allowed the other call. */
const forAnotherCall = (receipt: Verdict['receipt'] | null = null): Outcome =>
  refuse(
    'REQUEST_MISMATCH',
    'The Proof is for another call than this one.',
    'Sign a new Proof for exactly these arguments.',
    receipt,
  );

const callOf = ({ method, url }: ToolRequest): Action => ({ type: 'api:call', method, resource: url });

const outcomeOf = (verdict: Verdict): Outcome => {
  const { receipt } = verdict;
  if (!verdict.allowed)
    return refuse(verdict.reason, REASON_TEXTS[verdict.reason], REMEDIES[verdict.reason], receipt);
  return { allowed: authorityOf(verdict.authority, receipt) };
};

const refuse = (
  reason: ReasonCode | RefusalCode,
  message: string,
  remedy: string,
  receipt: Verdict['receipt'] | null = null,
): Refused => ({ refused: { reason, message, remedy, receipt } });

/** The tool error for a refusal. */
const resultOf = (refused: Refused['refused'], options: Guard): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: `${refused.reason}: ${refused.message} ${refused.remedy}` }],
  _meta: metaOf(refused, options),
});

const metaOf = (
  { reason, message, remedy, receipt }: Refused['refused'],
  options: Guard,
): Record<string, unknown> => {
  const base = helpBase(options.verifier.publicUrl);
  const about = receipt?.decision === 'DENY' ? 'reasons' : 'errors';
  const help = base === null ? {} : { helpUrl: helpUrlOf(base, about, reason) };
  return {
    [META.refusal]: { reason, message, remedy, ...help },
    ...(receipt === null ? {} : { [META.receipt]: receipt }),
  };
};

function tellError({ onError }: GuardOptions, error: unknown, tool: string): void {
  if (onError === undefined) logError(`a call of ${JSON.stringify(tool)} did not run`, error);
  else onError(error, tool);
}
