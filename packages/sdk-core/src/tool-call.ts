/**
 * Represents a call of an MCP tool as the HTTP request for which a Proof is signed: `POST` to an address made of the
 * tool's name and the hash of its arguments. Agent and server both compute it, so the Proof binds the arguments over
 * any transport.
 */
import { jcs, portableCrypto } from '@svc/codec';
import { isOrigin, rule } from './arguments.ts';
import { SvcError } from './errors.ts';

/** Names in `_meta`: Grant and Proof in that of the call, the Receipt in that of the result. */
export const META = {
  grant: 'svc/grant',
  proof: 'svc/proof',
  receipt: 'svc/receipt',
  refusal: 'svc/refusal',
} as const;

/** Both sides build addresses on it, so only one spelling is accepted. */
export const anOriginOfTools = /* @__PURE__ */ rule(
  'the http or https address of the tools as scheme://host[:port], without a path',
  isOrigin,
);

/** MCP, “Tool names”. Excludes `.` and `..`, which are not path segments. */
const TOOL_NAME = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,128}$/;

/** The request of a call: `<origin>/mcp/tools/<name>/<SHA-256 of the RFC 8785 form of the arguments>`. */
export interface ToolRequest {
  readonly method: 'POST';
  readonly url: string;
}

/**
 * The request that represents this call. Absent arguments count as `{}`.
 * @throws SvcError `invalid-argument` for a name that MCP does not allow, or arguments without canonical form
 */
export function toolRequest(origin: string, name: string, args: unknown = {}): ToolRequest {
  if (!TOOL_NAME.test(name))
    throw new SvcError('invalid-argument', 'a tool has a name of 1 to 128 characters of A-Z a-z 0-9 _ - .');
  let text: string;
  try {
    text = jcs(args as Parameters<typeof jcs>[0]);
  } catch (cause) {
    throw new SvcError('invalid-argument', 'the arguments of a tool must be plain JSON', { cause });
  }
  return { method: 'POST', url: `${origin}/mcp/tools/${name}/${portableCrypto.sha256Hex(text)}` };
}
