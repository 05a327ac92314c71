/**
 * `fetch` for an Agent: every request carries the Grant and a Proof made for this request alone (interface §Flow).
 * A Proof is good for one use, so a retry is another call and signs another Proof. Redirects are not followed: the
 * next address would need a Proof of its own, and must not be handed this one.
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

/** The Agent, its Grant and the relying party that is called. */
export interface AgentFetchOptions {
  agent: Agent;
  /** The Grant as issued to this Agent. */
  grant: string;
  /** DID of the relying party being called. */
  audience: string;
  /** What the request does, in the relying party's terms. A function gets a copy whose body it may read. */
  action: Action | ((request: Request) => Action | Promise<Action>);
  /** Signs each request too (RFC 9421), as `createRequestSigner` of `@svc/sdk-principal/web-bot-auth` makes it. */
  signature?: RequestSigner;
  /** The `fetch` of the runtime unless given. */
  fetch?: typeof fetch;
  /** The service's address, so that errors name their page of its guide (`helpUrl`). Nothing is sent there. */
  baseUrl?: string;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** As `fetch`, with the Grant and a new Proof on each request. */
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
 * A `fetch` that carries the Grant and a new Proof with each request, dated by `now` (milliseconds).
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
    // Else all that is sent would be kept for it. Not awaited, and refused where `action` has read it.
    void copy.body?.cancel().catch(() => undefined);
  }
}

/** An Action that never changes is checked now, and copied: a later change of the caller's object does not reach it. */
function checkAction(action: AgentFetchOptions['action']): AgentFetchOptions['action'] {
  if (typeof action === 'function') return action;
  const parsed = parseAction(action);
  if (!parsed.ok) throw new SvcError('invalid-argument', `createAgentFetch: ${parsed.problem}`);
  return parsed.value;
}

/** Browsers hide the status of a redirect that they were told not to follow. */
const isRedirect = ({ status, type }: Response): boolean =>
  type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status);

const redirectMode = (input: string | URL | Request, init?: RequestInit): string =>
  init?.redirect ?? (input instanceof Request ? input.redirect : 'follow');
