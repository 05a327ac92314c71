/** What a tool would refuse about its arguments by itself, asked before a Proof is spent and a budget drawn for it. */

import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';

/**
 * An own member `__proto__`, at any depth. As JSON it is a member like others and is hashed as such; a program that copies the
 * object sets its prototype instead, and so runs with other arguments than those that were signed.
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

/** What is used of an McpServer that its types keep private. An SDK that has it otherwise checks the arguments after the decision. */
interface Checking {
  readonly _registeredTools?: Readonly<Record<string, { readonly enabled?: boolean }>>;
  readonly validateToolInput?: (tool: object, args: unknown, name: string) => Promise<unknown>;
}

/**
 * Why a registered tool would not run with these arguments, by the schema that it was registered with; null where it would, and where
 * this cannot be known: a `Server` with a handler of its own knows alone what its tools take.
 * @throws what the schema itself throws
 */
export async function findInputFault(
  server: McpServer | Server,
  name: string,
  args: unknown,
): Promise<string | null> {
  const { _registeredTools: tools } = server as unknown as Checking;
  const tool = tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) return null;
  if (tool.enabled === false) return 'This tool is disabled.';
  try {
    await (server as unknown as Checking).validateToolInput?.(tool, args, name);
    return null;
  } catch (error) {
    const { code, message } = Object(error) as { code?: unknown; message?: unknown };
    if (code !== INVALID_PARAMS || typeof message !== 'string') throw error;
    const told = message.replace(/^MCP error -?\d+: /, '').slice(0, MAX_CHARS);
    return `The tool does not take these arguments: ${told}`;
  }
}

/** JSON-RPC 2.0 §5.1. */
const INVALID_PARAMS = -32_602;
const MAX_CHARS = 2_000;
