/**
 * The operator gives a DID to another org, with all its history: after a domain has changed hands, or to settle whose
 * it is. Every API key of it is revoked, so nobody acts for it but the keys that its new org issues, and what it was
 * asked to approve expires. A hosted Principal proves its domain anew, by another token; until then its Grants are
 * denied, as of a revocation (protocol §9). A managed Principal stays in its org: its signing keys are those that it was
 * registered with, so the former holder would go on signing for it and the later one never could.
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
  /** Null: it is in no org then. */
  readonly toOrgId: OrgId | null;
  readonly requestId: string;
}

/**
 * `CONFLICT` for a managed Principal, and for a relying party with decisions. `SERVICE_UNAVAILABLE`: a decision under way
 * was not over within 2 s (for a relying party: any decision, within 0.2 s for each of three days), and nothing is
 * transferred; repeat the call.
 */
export const transferDid = async (deps: ServiceDeps, transfer: Transfer): Promise<void> => {
  const { did, kind, toOrgId } = transfer;
  if (toOrgId !== null && !(await deps.store.orgs.exists(toOrgId)))
    throw invalidRequest(`org_id: there is no org ${toOrgId}`);
  if (kind === 'principal' && isRepeated(transfer)) await compromiseManagedKeys(deps, transfer);
  await deps.store.transaction(
    (tx) => (kind === 'principal' ? movePrincipal(deps, tx, transfer) : moveRelyingParty(deps, tx, transfer)),
    // A Principal's waits for decisions under way, on connections that no revocation needs.
    { ...(kind === 'relying_party' && { lane: 'urgent' }), exclusiveKey: exclusiveKeyOf(kind, did) },
  );
};

/** By a restore, of a transfer that was recorded before. Versions up to 0.3.0 transferred managed Principals too. */
const isRepeated = ({ caller }: Transfer): boolean => caller.class === 'system';

/**
 * Marks all keys of a managed Principal compromised before it is moved, so that a repeat after a failure finds what is left
 * to do. One that is in no org keeps them: a restore cannot tell a transfer of it from its joining an org as itself.
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
  // What is decided for the former holder is stored and dated before the transfer is audited, and what is decided after it
  // has seen it: the later holder reads the one, and hears of it, and not the other.
  await tx.principals.holdDecisions(did);
  const principal = await tx.principals.findForUpdate(did);
  if (principal === null) throw notFound(`No ${NAMES.principal} ${did}.`);
  if (principal.orgId === toOrgId) return;
  if (principal.kind === 'managed' && !isRepeated(transfer)) throw staysInItsOrg(did);
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

/** One with decisions stays: they count for the org that it was in, or are those of the customer whose it was. */
const moveRelyingParty = async (deps: ServiceDeps, tx: Repositories, transfer: Transfer): Promise<void> => {
  const { did, kind, toOrgId } = transfer;
  const relyingParty = await tx.relyingParties.findForUpdate(did);
  if (relyingParty === null) throw notFound(`No ${NAMES.relying_party} ${did}.`);
  if (relyingParty.orgId === toOrgId) return;
  await tx.relyingParties.transfer(did, toOrgId);
  await tx.claims.forgetContesting({ did, kind });
  await endKeys(deps, tx, transfer, relyingParty.orgId);
  // Last: what may be waited for above is not waited for while no decision of anybody is stored.
  if (!isRepeated(transfer) || relyingParty.orgId !== null)
    await assertUndecided(tx, did, relyingParty.orgId);
  logHandOver(deps, 'relying_party', relyingParty, toOrgId);
};

/** The holder of its keys reads its decisions and reports their outcomes, those of before too. */
const assertUndecided = async (tx: Repositories, did: DidWeb, orgId: OrgId | null): Promise<void> => {
  if (!(await tx.usage.hasDecided(did))) return;
  if (orgId !== null) throw conflict(`${did} has decisions that count for its org ${orgId}: it stays there.`);
  throw conflict(
    `${did} has decisions, which another customer would read: it stays in no org. Another customer registers another DID ` +
      '(did:web:<host>:<name>). The same customer joins its org as itself (POST /orgs/{org_id}/members).',
  );
};

/** Both orgs see it, the one that had it and the one that has it now, and neither which the other is. */
const endKeys = async (
  deps: ServiceDeps,
  tx: Repositories,
  { caller, did, kind, toOrgId, requestId }: Transfer,
  fromOrgId: OrgId | null,
): Promise<void> => {
  await tx.apiKeys.revokeAll(did, kind === 'principal' ? 'principal' : 'rp');
  // Its row ends what the former holder hears and was asked to approve (0062-beside-older-nodes): after the keys, as whoever
  // answers a request takes them, so that nobody waits for the other.
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
