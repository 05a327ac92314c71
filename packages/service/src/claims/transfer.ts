/**
 * The operator gives a DID to another org, with all its history: after a domain has changed hands, or to settle to whom
 * the DID belongs.
 *
 * - All API keys of the DID are revoked, so only keys that the new org issues act for it.
 * - Requests that wait for its approval expire.
 * - A hosted Principal must prove its domain again, with a new token. Until then its Grants are denied, as after a
 *   revocation (protocol §9).
 * - A managed Principal stays in its org. Its signing keys are those of its registration, so the former holder could go
 *   on signing for it and the new one never could.
 */
import { type DidWeb, encodeBase64url, type OrgId } from '@svc/protocol';
import type { AdminCaller } from '../access/caller.ts';
import { auditEvent, type SystemActor } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, invalidRequest, notFound } from '../errors.ts';
import { logHandOver } from '../fence/revocation-log.ts';
import type { ClaimKind } from '../ports/claims.ts';
import type { Repositories } from '../ports/store.ts';
import { compromiseKey } from '../signing-keys/signing-keys.ts';
import { exclusiveKeyOf, NAMES } from './release.ts';

export interface Transfer {
  readonly caller: AdminCaller | SystemActor;
  readonly did: DidWeb;
  readonly kind: ClaimKind;
  /** Null: the DID belongs to no org afterwards. */
  readonly toOrgId: OrgId | null;
  readonly requestId: string;
}

/**
 * `CONFLICT` for a managed Principal, and for a relying party with decisions. `SERVICE_UNAVAILABLE`: a decision under
 * way did not end within 2 s (for a relying party: any decision, within 0.2 s for each of three days). Then nothing is
 * transferred; repeat the call.
 */
export const transferDid = async (deps: ServiceDeps, transfer: Transfer): Promise<void> => {
  const { did, kind, toOrgId } = transfer;
  if (toOrgId !== null && !(await deps.store.orgs.exists(toOrgId)))
    throw invalidRequest(`org_id: there is no org ${toOrgId}`);
  if (kind === 'principal' && isRepeated(transfer)) await compromiseManagedKeys(deps, transfer);
  await deps.store.transaction(
    (tx) => (kind === 'principal' ? movePrincipal(deps, tx, transfer) : moveRelyingParty(deps, tx, transfer)),
    // The transfer of a Principal waits for decisions under way, so it does not use the connections kept for
    // revocations.
    { ...(kind === 'relying_party' && { lane: 'urgent' }), exclusiveKey: exclusiveKeyOf(kind, did) },
  );
};

/** True when a restore repeats a recorded transfer. Versions up to 0.3.0 transferred managed Principals too. */
const isRepeated = ({ caller }: Transfer): boolean => caller.class === 'system';

/**
 * Marks all keys of a managed Principal compromised before the Principal is moved, so that a repeat after a failure
 * finds what is left to do. A Principal in no org keeps its keys: a restore cannot tell a transfer of it from the same
 * customer joining an org.
 */
const compromiseManagedKeys = async (
  deps: ServiceDeps,
  { caller, did, toOrgId, requestId }: Transfer,
): Promise<void> => {
  const principal = await deps.store.principals.find(did);
  if (principal?.kind !== 'managed' || principal.orgId === null || principal.orgId === toOrgId) return;
  for (const { kid } of principal.keys) await compromiseKey(deps, { caller, principal: did, kid, requestId });
};

const movePrincipal = async (deps: ServiceDeps, tx: Repositories, transfer: Transfer): Promise<void> => {
  const { did, kind, toOrgId } = transfer;
  const principal = await tx.principals.findForUpdate(did);
  if (principal === null) throw notFound(`No ${NAMES.principal} ${did}.`);
  if (principal.orgId === toOrgId) return;
  if (principal.kind === 'managed' && !isRepeated(transfer)) throw staysInItsOrg(did);
  // Decisions for the former holder are stored and dated before the transfer is audited; every later decision reads the
  // transfer. So the new holder reads the later decisions and gets their events, and does not read the earlier ones.
  await tx.principals.holdDecisions(did);
  await tx.principals.transfer(did, toOrgId, encodeBase64url(deps.random.bytes(24)));
  await tx.claims.forgetContesting({ did, kind });
  await endKeys(deps, tx, transfer, principal.orgId);
  logHandOver(deps, 'principal', principal, toOrgId);
};

const staysInItsOrg = (did: DidWeb) =>
  conflict(
    `${did} is managed: it can be given no other signing keys, so whoever has its keys would go on signing for it. It stays ` +
      'where it is. Register another slug in the other org. To end what this one may do, compromise its keys ' +
      '(POST /keys/{kid}/compromise), or revoke its Grants.',
  );

/**
 * Moves a relying party without decisions. One with decisions stays: they count for its org, or belong to the customer
 * that had it.
 */
const moveRelyingParty = async (deps: ServiceDeps, tx: Repositories, transfer: Transfer): Promise<void> => {
  const { did, kind, toOrgId } = transfer;
  const relyingParty = await tx.relyingParties.findForUpdate(did);
  if (relyingParty === null) throw notFound(`No ${NAMES.relying_party} ${did}.`);
  if (relyingParty.orgId === toOrgId) return;
  await tx.relyingParties.transfer(did, toOrgId);
  await tx.claims.forgetContesting({ did, kind });
  await endKeys(deps, tx, transfer, relyingParty.orgId);
  // This is last: it keeps all decisions of all tenants from being stored, so nothing may wait after it.
  if (!isRepeated(transfer) || relyingParty.orgId !== null)
    await assertUndecided(tx, did, relyingParty.orgId);
  logHandOver(deps, 'relying_party', relyingParty, toOrgId);
};

/**
 * Throws `CONFLICT` when the relying party has decided: the holder of its keys reads all its decisions and reports
 * their outcomes, also those from before the transfer.
 */
const assertUndecided = async (tx: Repositories, did: DidWeb, orgId: OrgId | null): Promise<void> => {
  if (!(await tx.usage.hasDecided(did))) return;
  if (orgId !== null) throw conflict(`${did} has decisions that count for its org ${orgId}: it stays there.`);
  throw conflict(
    `${did} has decisions, which another customer would read: it stays in no org. Another customer registers another DID ` +
      '(did:web:<host>:<name>). The same customer joins its org as itself (POST /orgs/{org_id}/members).',
  );
};

/** Revokes the API keys and audits the transfer for both orgs. Neither event names the other org. */
const endKeys = async (
  deps: ServiceDeps,
  tx: Repositories,
  { caller, did, kind, toOrgId, requestId }: Transfer,
  fromOrgId: OrgId | null,
): Promise<void> => {
  await tx.apiKeys.revokeAll(did, kind === 'principal' ? 'principal' : 'rp');
  // The audit row ends the former holder's events and requests for approval (0062-beside-older-nodes). It comes after
  // the keys, in the order in which an answer to a request locks them, so that the two cannot deadlock.
  const action = kind === 'principal' ? 'principal.verify' : 'relying_party.update';
  for (const [orgId, side] of [
    [fromOrgId, 'from_org'],
    [toOrgId, 'to_org'],
  ] as const) {
    const details = { claim: 'transferred', [side]: orgId };
    if (orgId !== null)
      await tx.audit.insert(auditEvent(deps, caller, { action, target: did, requestId, orgId, details }));
  }
};
