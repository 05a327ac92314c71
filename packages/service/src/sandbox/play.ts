/** Operations of the sandbox (interface §Endpoints, Sandbox): its Agent buys from its relying party. */
import type { GrantId } from '@svc/protocol';
import { SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { Revocation, Revoker } from '../grants/revoke-grant.ts';
import { issueTicket, type SandboxTicket } from './issue.ts';
import type { Sandbox } from './sandbox.ts';

/** Maximum amount that a Grant of `/demo/mint` allows: 500.00 USD. */
export const DEMO_MAX_AMOUNT_MINOR = 50_000;
/** Maximum amount that a Proof can be requested for. */
export const DEMO_AMOUNT_CAP_MINOR = 1_000_000_000;

/** A new Grant to the sandbox's Agent, and its Proof for one purchase. */
export const mintDemo = (
  deps: ServiceDeps,
  sandbox: Sandbox,
  amountMinor: number,
  requestId: string,
): Promise<SandboxTicket> =>
  deps.store.transaction(
    (tx) =>
      issueTicket(deps, tx, sandbox, {
        agent: sandbox.agent,
        audience: sandbox.relyingParty,
        maxAmountMinor: DEMO_MAX_AMOUNT_MINOR,
        amountMinor,
        requestId,
      }),
    { exclusiveKey: sandbox.principal },
  );

/**
 * Revokes a Grant that `mintDemo` issued, and no other: anybody may call this, and must not revoke the starters of
 * tenants.
 */
export const revokeDemo = async (
  deps: ServiceDeps,
  revoker: Revoker,
  { principal, agent }: Sandbox,
  grantId: GrantId,
  requestId: string,
): Promise<Revocation> => {
  const grant = await deps.store.grants.find(grantId);
  if (grant?.principal !== principal || grant.agent !== agent.did)
    throw notFound(`No Grant ${grantId} of the sandbox's Agent.`);
  return revoker.revoke({ deps, caller: SYSTEM, principal, grantId, requestId });
};
