/** The inventory of Agents (interface §Agent). No decision reads it. */
import type { DidKey, DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { assertStillOf, lockLiveKey } from '../access/live-key.ts';
import { auditEvent } from '../audit/audit-event.ts';
import { MAX_MADE_UNDER_CLAIM } from '../claims/claim.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, forbidden } from '../errors.ts';
import type { AgentRecord } from '../ports/agents.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import { type Repositories, StoreError } from '../ports/store.ts';

/** Registers an Agent for a Principal. `CONFLICT` when it is registered already. */
export const registerAgent = async (
  deps: ServiceDeps,
  caller: Caller,
  principal: DidWeb,
  did: DidKey,
  requestId: string,
): Promise<AgentRecord> => {
  try {
    return await deps.store.transaction(
      async (tx) => {
        const locked = await tx.principals.findForUpdate(principal);
        assertStillOf(caller, locked, principal);
        await lockLiveKey(tx, caller);
        await requireRoom(tx, principal, locked);
        const agent = await tx.agents.insert(principal, did);
        const orgId = locked?.orgId ?? null;
        const details = { principal };
        await tx.audit.insert(
          auditEvent(deps, caller, { action: 'agent.register', target: did, requestId, orgId, details }),
        );
        return agent;
      },
      { exclusiveKey: principal },
    );
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'conflict')
      throw conflict(`${did} is already registered.`);
    throw error;
  }
};

/**
 * Throws `FORBIDDEN` when a Principal that is only claimed has reached its limit of Agents. The limit exists because
 * one transaction must be able to delete them all.
 */
const requireRoom = async (tx: Repositories, did: DidWeb, locked: PrincipalRecord | null): Promise<void> => {
  if (locked === null || locked.claimExpiresAtMs === null) return;
  if ((await tx.agents.count(did)) >= MAX_MADE_UNDER_CLAIM)
    throw forbidden(`${did} has ${MAX_MADE_UNDER_CLAIM} Agents; more once its domain is proven.`);
};
