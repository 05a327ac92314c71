/**
 * A call of an MCP tool as the HTTP request that a Proof is signed for: `POST` to an address that is made of the tool's name and
 * of the hash of its arguments. Both sides compute it, so the Proof binds the arguments whatever the transport is.
 */
import { jcs, portableCrypto } from '@svc/codec';
import { isOrigin, rule } from './arguments.ts';
import { SvcError } from './errors.ts';

/** Where Grant and Proof travel in the `_meta` of a call, and the Receipt in that of its result. */
export const META = {
  grant: 'svc/grant',
  proof: 'svc/proof',
  receipt: 'svc/receipt',
  refusal: 'svc/refusal',
} as const;

/** Both sides build addresses on it, so that one spelling counts. */
export const anOriginOfTools = /* @__PURE__ */ rule(
  'the http or https address of the tools as scheme://host[:port], without a path',
  isOrigin,
);

/** MCP, “Tool names”. Without `.` and `..`, which are no segments of a path. */
const TOOL_NAME = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,128}$/;

/** The request of a call: `<origin>/mcp/tools/<name>/<SHA-256 of the RFC 8785 form of the arguments>`. */
export interface ToolRequest {
  readonly method: 'POST';
  readonly url: string;
}

/**
 * The request that stands for this call. Without arguments they are `{}`.
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
