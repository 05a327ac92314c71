/** The sandbox (interface §Endpoints, Sandbox). It authenticates no caller: the sandbox's own parties act. */
import type { Action, PurchaseAction } from '@svc/protocol';
import {
  type Authenticator,
  approveDemo,
  DEMO_AMOUNT_CAP_MINOR,
  DEMO_MAX_AMOUNT_MINOR,
  findRpCaller,
  type GrantFacts,
  internal,
  mintDemo,
  type Revoker,
  type RpCaller,
  requireRoomInSandbox,
  revokeDemo,
  SANDBOX_GRANT_SECONDS,
  SANDBOX_REQUEST,
  type Sandbox,
  type ServiceDeps,
  sandboxAuthority,
  serviceUnavailable,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { presentAccessRequest } from './approvals.ts';
import type { Decide } from './decide.ts';
import { presentRevocation } from './grants.ts';
import { offered } from './offered.ts';

export interface SandboxDeps {
  readonly service: ServiceDeps;
  readonly authenticator: Pick<Authenticator, 'readAgain'>;
  readonly decide: Decide;
  readonly verifier: GrantFacts;
  readonly revoker: Revoker;
  /** Null: the deployment does not offer it. */
  readonly demo: Demo | null;
}

export interface Demo {
  readonly sandbox: Sandbox;
  /** Calls per minute of one address, per node. */
  readonly perMinute: number;
  /** Calls that store something in a UTC day, of all callers and on all nodes together. */
  readonly perDay: number;
}

export const sandboxEndpoints = ({
  service,
  authenticator,
  decide,
  verifier,
  revoker,
  demo,
}: SandboxDeps): HandlersOf<'sandbox'> => ({
  getDemoInfo: async () => {
    const { sandbox, perMinute } = offered(demo);
    const limits = { amount_cap: DEMO_AMOUNT_CAP_MINOR, rate_limit_per_minute: perMinute };
    return { status: 200, body: { ...presentSandbox(sandbox), ...limits } };
  },

  mintDemo: async ({ body, requestId }) => {
    const { sandbox, perDay } = offered(demo);
    await requireRoomInSandbox(service, perDay);
    const ticket = await mintDemo(service, sandbox, body.amount, requestId);
    const { grant, proof, action, grantId, validUntil } = ticket;
    const minted = { grant, proof, action, grant_id: grantId, valid_until: validUntil };
    return { status: 200, body: { ...minted, ...presentSandbox(sandbox) } };
  },

  verifyDemo: async ({ body }) => {
    const { sandbox, perDay } = offered(demo);
    await requireRoomInSandbox(service, perDay);
    const caller = await relyingPartyOf(service, authenticator, sandbox);
    return { status: 200, rawBody: (await decide(caller, body)).text };
  },

  approveDemo: async ({ body: { receipt_id: receiptId, proof, approve }, requestId }) => {
    const { sandbox, perDay } = offered(demo);
    await requireRoomInSandbox(service, perDay);
    const caller = await relyingPartyOf(service, authenticator, sandbox);
    const order = { receiptId, proof, approve, requestId };
    const { request, purchase } = await approveDemo(service, { sandbox, verifier }, caller, order);
    return {
      status: 200,
      body: {
        request: presentAccessRequest(service, request),
        purchase: purchase && { ...purchase, action: asPurchase(purchase.action) },
      },
    };
  },

  revokeDemo: async ({ body, requestId }) => {
    const revocation = await revokeDemo(service, revoker, offered(demo).sandbox, body.grant_id, requestId);
    return { status: 200, body: presentRevocation(revocation) };
  },
});

const relyingPartyOf = async (
  service: ServiceDeps,
  authenticator: SandboxDeps['authenticator'],
  { relyingParty }: Sandbox,
): Promise<RpCaller> => {
  const caller = await findRpCaller(service, authenticator, relyingParty);
  if (caller === null)
    throw serviceUnavailable('the sandbox’s relying party has no live key; a restart makes one');
  return caller;
};

/** The sandbox's Agent signs no other Actions than purchases. */
const asPurchase = (action: Action): PurchaseAction => {
  if (action.type !== 'commerce:purchase') throw internal('the sandbox’s Agent signed for no purchase');
  return action;
};

const presentSandbox = ({ principal, agent, relyingParty }: Sandbox) => ({
  principal,
  agent: agent.did,
  rp: relyingParty,
  authority: sandboxAuthority(DEMO_MAX_AMOUNT_MINOR),
  grant_lifetime_seconds: SANDBOX_GRANT_SECONDS,
  request: SANDBOX_REQUEST,
});
