/**
 * Releases a DID that was never proven: everything made under its name is deleted, including its keys. Receipts that
 * deny its Grants stay. A DID that was proven once, or has decided, has a history and is transferred instead. Managed
 * Principals are neither released nor transferred.
 */
import type { DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { exclusiveKeyOfRelyingParty } from '../access/tenant.ts';
import { auditEvent, SYSTEM, type SystemActor } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, notFound } from '../errors.ts';
import { logHandOver } from '../fence/revocation-log.ts';
import type { ClaimKind } from '../ports/claims.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';
import type { Repositories } from '../ports/store.ts';
import { type Claim, taken } from './contest.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'log'>;

export interface ReleasedBy {
  readonly caller: Caller | SystemActor;
  readonly requestId: string | null;
}

/** `yielded`: replaced by another registration. */
export type ReleaseReason = 'released' | 'expired' | 'yielded';

/** Enough for everything that can be made under a claim, on a slow disk. */
export const RELEASE_DEADLINE_MS = 10_000;

/**
 * Releases a claim that stands in the way of a registration, if there is one. The claim was read before, so it is
 * judged again under its lock. Throws `CONFLICT` when it does not yield.
 */
export const releaseForClaim = async (
  deps: Deps,
  tx: Repositories,
  kind: ClaimKind,
  did: DidWeb,
  { overrides }: Pick<Claim, 'overrides'>,
  by: ReleasedBy,
): Promise<void> => {
  const registered = await findForUpdate(tx, kind, did);
  if (registered === null) return;
  const { claimExpiresAtMs } = registered;
  const yields = claimExpiresAtMs !== null && (overrides || claimExpiresAtMs <= deps.clock.nowMs());
  if (!yields) throw taken(did);
  await release(deps, tx, kind, registered, by, 'yielded');
};

/** The operator releases a DID. `CONFLICT` when it was proven once, is hosted by the service, or decides. */
export const releaseDid = (deps: Deps, kind: ClaimKind, did: DidWeb, by: ReleasedBy): Promise<void> =>
  deps.store.transaction(
    async (tx) => {
      const registered = await findForUpdate(tx, kind, did);
      if (registered === null) throw notFound(`No ${NAMES[kind]} ${did}.`);
      if (!isReleasable(registered)) throw conflict(`${did} has a history: ${insteadOfRelease(registered)}.`);
      await release(deps, tx, kind, registered, by, 'released');
    },
    { deadlineMs: RELEASE_DEADLINE_MS, exclusiveKey: exclusiveKeyOf(kind, did) },
  );

const insteadOfRelease = (registered: PrincipalRecord | RelyingPartyRecord): string =>
  'lastProvenMs' in registered && registered.kind === 'managed'
    ? 'it stays registered. Compromise its keys to end what it may do'
    : 'transfer it instead';

/** Releases an expired claim. False when the claim has been proven or removed meanwhile. */
export const expireClaim = (deps: Deps, kind: ClaimKind, did: DidWeb): Promise<boolean> =>
  deps.store.transaction(
    async (tx) => {
      const registered = await findForUpdate(tx, kind, did);
      const expiresAtMs = registered?.claimExpiresAtMs ?? null;
      if (registered === null || expiresAtMs === null || expiresAtMs > deps.clock.nowMs()) return false;
      await release(deps, tx, kind, registered, { caller: SYSTEM, requestId: null }, 'expired');
      return true;
    },
    { deadlineMs: RELEASE_DEADLINE_MS, exclusiveKey: exclusiveKeyOf(kind, did) },
  );

export const NAMES: Readonly<Record<ClaimKind, string>> = {
  principal: 'Principal',
  relying_party: 'relying party',
};

/**
 * The exclusive key of a registration. The Principal and the relying party of one DID have different keys, so that they
 * do not wait for each other: they can belong to different customers.
 */
export const exclusiveKeyOf = (kind: ClaimKind, did: string): string =>
  kind === 'principal' ? did : exclusiveKeyOfRelyingParty(did);

const findForUpdate = (
  tx: Repositories,
  kind: ClaimKind,
  did: DidWeb,
): Promise<PrincipalRecord | RelyingPartyRecord | null> =>
  kind === 'principal' ? tx.principals.findForUpdate(did) : tx.relyingParties.findForUpdate(did);

/**
 * True for a hosted Principal that never proved its domain, which has had no ALLOW, and for a relying party under an
 * open claim, which has decided nothing.
 */
export const isReleasable = (registered: PrincipalRecord | RelyingPartyRecord): boolean =>
  'lastProvenMs' in registered
    ? registered.kind === 'hosted' && registered.lastProvenMs === null
    : registered.claimExpiresAtMs !== null;

const release = async (
  deps: Deps,
  tx: Repositories,
  kind: ClaimKind,
  registered: PrincipalRecord | RelyingPartyRecord,
  { caller, requestId }: ReleasedBy,
  claim: ReleaseReason,
): Promise<void> => {
  const { did, orgId } = registered;
  await (kind === 'principal' ? tx.principals.release(did) : tx.relyingParties.release(did));
  const audited = {
    action: kind === 'principal' ? 'principal.verify' : 'relying_party.update',
    target: did,
    requestId,
  } as const;
  // Neither org learns which the other is. The operator finds both events by the request id.
  const isOfAnother = caller.class === 'org' && caller.subject !== orgId;
  const details = { claim, org_id: orgId };
  await tx.audit.insert(auditEvent(deps, isOfAnother ? SYSTEM : caller, { ...audited, orgId, details }));
  if (isOfAnother) await tx.audit.insert(auditEvent(deps, caller, { ...audited, details: { claim } }));
  logHandOver(deps, kind, registered, 'released');
};
