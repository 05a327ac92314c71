/**
 * Revocation in two phases (protocol §9). The first commits the flag, the newly signed status list and the audit
 * row: from then on no decision that reads the Grant can allow it. The second is a barrier: it waits for the
 * decisions already under way and stamps `revoked_at`. Only then is the answer 200.
 *
 * A crash between the two leaves the revocation recorded and effective; a repeated call completes the stamp.
 */
import type { DidWeb, GrantId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { auditEvent, type SystemActor } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound } from '../errors.ts';
import { notYetVisible } from '../lib/barrier.ts';
import type { GrantRecord } from '../ports/grants.ts';
import { type Repositories, StoreError } from '../ports/store.ts';
import { setStatusBits } from './status-list.ts';

export interface Revocation {
  readonly grantId: GrantId;
  readonly revokedAtMs: number;
}

/** Revokes a Grant of `principal`. Idempotent. `SERVICE_UNAVAILABLE`: recorded, not yet known to be visible. */
export const revokeGrant = async (
  deps: ServiceDeps,
  caller: Caller | SystemActor,
  principal: DidWeb,
  grantId: GrantId,
  requestId: string,
): Promise<Revocation> => {
  const grant = await deps.store.transaction(
    (tx) => recordRevocation(deps, tx, caller, principal, grantId, requestId),
    { lane: 'urgent' },
  );
  if (grant.revokedAtMs !== null) return { grantId, revokedAtMs: grant.revokedAtMs };
  return { grantId, revokedAtMs: await stamp(deps, principal, grantId) };
};

const recordRevocation = async (
  deps: ServiceDeps,
  tx: Repositories,
  caller: Caller | SystemActor,
  principal: DidWeb,
  grantId: GrantId,
  requestId: string,
): Promise<GrantRecord> => {
  const grant = await tx.grants.findForUpdate(grantId);
  if (grant === null || grant.principal !== principal)
    throw notFound(`No Grant ${grantId} of this Principal.`);
  if (grant.revocationRecordedAtMs !== null) return grant;
  const list = await tx.statusLists.findForUpdate(grant.statusListUrl);
  if (list === null) throw internal(`no list ${grant.statusListUrl}`);
  await setStatusBits(deps, tx, list, [grant.statusIndex]);
  await tx.grants.recordRevocation([grantId]);
  await tx.audit.insert(auditEvent(deps, caller, { action: 'grant.revoke', target: grantId, requestId }));
  return grant;
};

const stamp = async ({ store }: ServiceDeps, principal: DidWeb, grantId: GrantId): Promise<number> => {
  try {
    const revokedAtMs = (await store.revocation.stampRevoked(principal, [grantId])).get(grantId);
    if (revokedAtMs !== undefined) return revokedAtMs;
  } catch (error) {
    if (error instanceof StoreError) throw notYetVisible(error);
    throw error;
  }
  throw internal(`no stamp for ${grantId}`);
};
