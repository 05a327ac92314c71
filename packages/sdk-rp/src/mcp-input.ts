/** Checks a call for faults for which the server would refuse it, before a Proof is spent and a budget drawn for it. */

import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';

/**
 * Whether there is an own member `__proto__`, at any depth. In JSON it is an ordinary member and is hashed as one. A
 * program that copies the object sets its prototype instead, and so runs with arguments other than the signed ones.
 */
export function hasProtoMember(args: unknown): boolean {
  const open = [args];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    if (Object.hasOwn(one, '__proto__')) return true;
    for (const member of Object.values(one)) if (typeof member === 'object') open.push(member);
  }
  return false;
}

interface Tool {
  readonly enabled?: boolean;
  readonly execution?: { readonly taskSupport?: string };
  readonly handler?: object;
}

/**
 * The private members of an McpServer that are used. If an SDK version lacks them, its server checks the call after the
 * decision.
 */
interface Checking {
  readonly _registeredTools?: Readonly<Record<string, Tool>>;
  _toolHandlersInitialized?: boolean;
  validateToolInput?: (tool: Tool, args: unknown, name: string) => Promise<unknown>;
}

/** The parts of a call that are checked here. */
export interface CheckedCall {
  readonly name: string;
  readonly args: object;
  readonly isTask: boolean;
  /** The `extra` that the SDK passes to a handler. */
  readonly extra: object;
}

/** The checks of one server's calls. */
export interface CallChecks {
  /**
   * Call it where a handler is set. The function that it returns says, once a call comes, whether the McpServer itself
   * set that handler.
   */
  isOwnHandler: () => () => boolean;
  /**
   * Why the server would refuse this call, by what its tools were registered with. Null if it would run the call. Null
   * also if this cannot be known: only a relying party's own handler knows what its tools accept.
   * @throws the errors that a schema itself throws
   */
  findFault: (call: CheckedCall) => Promise<string | null>;
}

/**
 * Checks the calls of a server. The result of parsing the arguments is kept for the server, which would otherwise parse
 * again.
 */
export function createCallChecks(server: McpServer | Server): CallChecks {
  const known = server as unknown as Checking;
  const validate = known.validateToolInput?.bind(server);
  const inputs = new WeakMap<object, { readonly tool: Tool; readonly input: unknown }>();
  if (validate !== undefined)
    known.validateToolInput = async (tool, args, name) => {
      const kept = inputs.get(Object(args));
      return kept?.tool === tool ? kept.input : await validate(tool, args, name);
    };
  return {
    isOwnHandler: () => {
      // An McpServer sets its handler once and raises this flag afterwards.
      const isBefore = known._toolHandlersInitialized === false;
      return () => isBefore && known._toolHandlersInitialized === true;
    },
    findFault: async ({ name, args, ...call }) => {
      const tools = known._registeredTools;
      if (tools === undefined) return null;
      const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
      if (tool === undefined) return 'There is no such tool.';
      if (tool.enabled === false) return 'This tool is disabled.';
      const fault = findTaskFault(tool, call);
      if (fault !== null || validate === undefined) return fault;
      try {
        inputs.set(args, { tool, input: await validate(tool, args, name) });
        return null;
      } catch (error) {
        const { code, message } = Object(error) as { code?: unknown; message?: unknown };
        if (code !== INVALID_PARAMS || typeof message !== 'string') throw error;
        const told = message.replace(/^MCP error -?\d+: /, '').slice(0, MAX_CHARS);
        return `The tool does not take these arguments: ${told}`;
      }
    },
  };
}

/**
 * Over HTTP, everybody who has the id of a task can read its result, unless a session binds the task. Standard input
 * and output have one caller only.
 */
export function hasNoSession(extra: object): boolean {
  const { requestInfo, sessionId } = extra as { requestInfo?: unknown; sessionId?: unknown };
  return requestInfo !== undefined && sessionId === undefined;
}

export const NO_SESSION = 'A guarded tool runs as a task within a session alone, and this server has none.';

/**
 * The same check as in McpServer. A tool that is not set up for tasks would otherwise run, and its result would not be
 * a task.
 */
function findTaskFault(
  { execution, handler = {} }: Tool,
  { isTask, extra }: Pick<CheckedCall, 'isTask' | 'extra'>,
): string | null {
  const support = execution?.taskSupport ?? 'forbidden';
  if (!('createTask' in handler)) {
    if (support !== 'forbidden') return 'This tool is not set up: it is said to run as a task, and does not.';
    return isTask ? 'This tool does not run as a task.' : null;
  }
  // A tool with `createTask` makes a task even if the call requests none; the server then waits for the task.
  if (hasNoSession(extra)) return NO_SESSION;
  if (!isTask && support === 'required') return 'This tool runs as a task alone.';
  return 'taskStore' in extra && extra.taskStore
    ? null
    : 'This tool is not set up: the server keeps no tasks.';
}

/** JSON-RPC 2.0 §5.1. */
const INVALID_PARAMS = -32_602;
const MAX_CHARS = 2_000;
