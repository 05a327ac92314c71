/**
 * `fetch` for an Agent: every request carries the Grant and a Proof made for this request only (interface §Flow). A
 * Proof is valid for one use, so a retry is a new call with a new Proof. Redirects are not followed: the next address
 * would need its own Proof and must not receive this one.
 */
import { type Action, parseAction } from '@svc/protocol';
import {
  aFunction,
  anObjectWith,
  aText,
  isObject,
  optionally,
  type Rules,
  readArgument,
  rule,
} from '@svc/sdk-core/arguments';
import { SvcError } from '@svc/sdk-core/errors';
import { withHelp } from '@svc/sdk-core/help';
import { type Agent, anAgent } from './agent-key.ts';
import { checkGrant } from './check-grant.ts';
import { anAudience, signProof } from './sign-proof.ts';
import type { RequestSigner } from './web-bot-auth.ts';

/** The Agent, its Grant, and the relying party to call. */
export interface AgentFetchOptions {
  agent: Agent;
  /** The Grant that was issued to this Agent. */
  grant: string;
  /** DID of the relying party to call. */
  audience: string;
  /**
   * What the request does, in the relying party's terms. A function gets a copy of the request and may read its body.
   */
  action: Action | ((request: Request) => Action | Promise<Action>);
  /** Also signs each request (RFC 9421). Made by `createRequestSigner` of `@svc/sdk-principal/web-bot-auth`. */
  signature?: RequestSigner;
  /** The `fetch` of the runtime unless given. */
  fetch?: typeof fetch;
  /** The service's address, so that errors name their page of its guide (`helpUrl`). No request is sent there. */
  baseUrl?: string;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

/** Like `fetch`, with the Grant and a new Proof on each request. */
export type AgentFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const OPTIONS: Rules<AgentFetchOptions> = {
  agent: anAgent,
  grant: aText('the Grant as issued: a string'),
  audience: anAudience,
  action: rule(
    'an Action, or a function from the request to one',
    (value): value is AgentFetchOptions['action'] => typeof value === 'function' || isObject(value),
  ),
  signature: optionally(anObjectWith('a signer, as createRequestSigner makes it', [], ['sign'])),
  fetch: optionally(aFunction()),
  baseUrl: optionally(aText()),
  now: optionally(aFunction()),
};

/**
 * Makes a `fetch` that adds the Grant and a new Proof to each request. `now` (milliseconds) dates the Proofs.
 * @example
 * const agentFetch = createAgentFetch({ agent, grant, audience: 'did:web:shop.example', action });
 * await agentFetch('https://shop.example/orders', { method: 'POST', headers, body });
 * @throws SvcError `invalid-argument`, also if the Grant is not for this Agent and audience.
 */
export function createAgentFetch(options: AgentFetchOptions): AgentFetch {
  const { baseUrl } = Object(options) as Partial<AgentFetchOptions>;
  const agentFetch = withHelp(baseUrl, () => fetchOf(options));
  return (input, init) => withHelp(baseUrl, () => agentFetch(input, init));
}

function fetchOf(options: AgentFetchOptions): AgentFetch {
  const read = readArgument('createAgentFetch', options, OPTIONS);
  const { agent, now, audience } = read;
  const grant = checkGrant(read);
  const action = checkAction(read.action);
  const clock = now === undefined ? {} : { now };
  return async (input, init) => {
    const mode = redirectMode(input, init);
    const request = new Request(input, { ...init, redirect: 'manual' });
    const described = typeof action === 'function' ? await describe(action, request) : action;
    const { method, url } = request;
    const proof = await signProof({
      agent,
      grantId: grant.id,
      audience,
      method,
      url,
      action: described,
      ...clock,
    });
    request.headers.set('Svc-Grant', read.grant);
    request.headers.set('Svc-Proof', proof);
    await read.signature?.sign(request, agent, (now ?? Date.now)());
    const response = await (read.fetch ?? globalThis.fetch)(request);
    if (isRedirect(response) && mode !== 'manual') {
      await response.body?.cancel();
      throw new SvcError(
        'redirect-refused',
        `${method} ${url} was redirected: sign a Proof for the new address`,
        {
          status: response.status,
        },
      );
    }
    return response;
  };
}

async function describe(
  action: (request: Request) => Action | Promise<Action>,
  request: Request,
): Promise<Action> {
  const copy = request.clone();
  try {
    return await action(copy);
  } finally {
    // Without this, the copy would buffer everything that is sent. Not awaited; it rejects if `action` has read the
    // body.
    void copy.body?.cancel().catch(() => undefined);
  }
}

/** A constant Action is checked now and copied, so later changes to the caller's object have no effect. */
function checkAction(action: AgentFetchOptions['action']): AgentFetchOptions['action'] {
  if (typeof action === 'function') return action;
  const parsed = parseAction(action);
  if (!parsed.ok) throw new SvcError('invalid-argument', `createAgentFetch: ${parsed.problem}`);
  return parsed.value;
}

/** Browsers hide the status of a redirect that they were asked not to follow. */
const isRedirect = ({ status, type }: Response): boolean =>
  type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status);

const redirectMode = (input: string | URL | Request, init?: RequestInit): string =>
  init?.redirect ?? (input instanceof Request ? input.redirect : 'follow');
