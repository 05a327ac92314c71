/** Registers, reads and changes relying parties (interface §Relying party). */
import { type DidWeb, type OrgId, type ProfileId, parseDidWeb } from '@svc/protocol';
import { orgForRegistration, requireSettingsWritable } from '../access/acting.ts';
import type { Caller } from '../access/caller.ts';
import { assertStillOf, lockLiveKey } from '../access/live-key.ts';
import { mayReadRelyingParty } from '../access/reading.ts';
import { exclusiveKeyOfRelyingParty } from '../access/tenant.ts';
import { issueApiKey } from '../api-keys/api-key.ts';
import { auditEvent } from '../audit/audit-event.ts';
import { claimDid, forgetContesting, taken } from '../claims/contest.ts';
import { RELEASE_DEADLINE_MS, releaseForClaim } from '../claims/release.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, invalidRequest, notFound } from '../errors.ts';
import { requireRoomForMember } from '../orgs/members.ts';
import type { NewRelyingParty, RelyingPartyChange, RelyingPartyRecord } from '../ports/relying-parties.ts';
import { type Repositories, StoreError } from '../ports/store.ts';
import { isAllowedDomain, isServiceManagedDomain, managedRelyingPartyDid } from '../principals/domain.ts';
import { requireOpenSlug } from '../principals/reserved-slugs.ts';

export type RelyingPartyCreateRequest = {
  readonly name?: string | undefined;
  readonly proof_window_seconds: number;
  readonly verify_rate_limit_per_minute: number;
  readonly profile: ProfileId;
  readonly org_id?: OrgId | null | undefined;
} & ({ readonly kind: 'managed'; readonly slug: string } | { readonly kind: 'hosted'; readonly did: DidWeb });

export interface RelyingPartyCreated {
  readonly relyingParty: RelyingPartyRecord;
  readonly apiKey: string;
  readonly apiKeyId: string;
}

export const createRelyingParty = async (
  deps: ServiceDeps,
  caller: Caller,
  request: RelyingPartyCreateRequest,
  requestId: string,
): Promise<RelyingPartyCreated> => {
  const orgId = await orgForRegistration(deps, caller, request.org_id);
  const { did, slug } = identify(deps, caller, request);
  const claim = slug === null ? await claimHosted(deps, caller, did, orgId) : null;
  try {
    return await deps.store.transaction(
      async (tx) => {
        await lockLiveKey(tx, caller);
        const by = { caller, requestId };
        if (claim !== null) await releaseForClaim(deps, tx, 'relying_party', did, claim, by);
        await requireRoomForMember(deps, tx, orgId);
        const draft = { ...draftOf(request, { did, slug, orgId }), ...claim?.columns };
        const created = await insertRelyingParty(deps, tx, draft, by);
        if (claim !== null) await forgetContesting(tx, { did, kind: 'relying_party', orgId }, claim);
        return created;
      },
      { deadlineMs: RELEASE_DEADLINE_MS, exclusiveKey: exclusiveKeyOfRelyingParty(did) },
    );
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'conflict') throw taken(did);
    throw error;
  }
};

/**
 * The claim of a hosted relying party. The operator answers for one that it registers, so no domain is asked for a
 * proof.
 */
const claimHosted = async (deps: ServiceDeps, caller: Caller, did: DidWeb, orgId: OrgId | null) => {
  const registered = await deps.store.relyingParties.find(did);
  const claim = await claimDid(deps, { caller, did, kind: 'relying_party', orgId }, registered);
  const verificationToken = caller.class === 'admin' ? null : claim.token;
  return { ...claim, columns: { claimExpiresAtMs: claim.expiresAtMs, verificationToken } };
};

const draftOf = (
  request: RelyingPartyCreateRequest,
  { did, slug, orgId }: Pick<NewRelyingParty, 'did' | 'slug' | 'orgId'>,
): NewRelyingParty => ({
  did,
  kind: request.kind,
  slug,
  name: request.name ?? slug ?? did,
  proofWindowSeconds: request.proof_window_seconds,
  verifyRateLimitPerMinute: request.verify_rate_limit_per_minute,
  profile: request.profile,
  orgId,
});

const insertRelyingParty = async (
  deps: ServiceDeps,
  tx: Repositories,
  draft: NewRelyingParty,
  { caller, requestId }: { readonly caller: Caller; readonly requestId: string },
): Promise<RelyingPartyCreated> => {
  const relyingParty = await tx.relyingParties.insert(draft);
  const { did, kind, orgId } = draft;
  const key = await issueApiKey(tx, deps.random, { role: 'rp', subject: did, label: null });
  const details = { kind, org_id: orgId };
  await tx.audit.insert(
    auditEvent(deps, caller, { action: 'relying_party.create', target: did, requestId, orgId, details }),
  );
  return { relyingParty, apiKey: key.value, apiKeyId: key.record.keyId };
};

const identify = (
  { identity }: ServiceDeps,
  caller: Caller,
  request: RelyingPartyCreateRequest,
): { readonly did: DidWeb; readonly slug: string | null } => {
  if (request.kind === 'managed') {
    const { slug } = request;
    requireOpenSlug(caller, slug);
    return { did: managedRelyingPartyDid(identity, slug), slug };
  }
  const { did } = request;
  if (parseDidWeb(did) === null || !isAllowedDomain(identity, did))
    throw invalidRequest('did: must be did:web:<host>[:<segment>…] without a port');
  if (isServiceManagedDomain(identity, did))
    throw conflict(`${did} lies under this service's own domain; register it with kind "managed".`);
  return { did, slug: null };
};

/** The relying party, if the caller may read it. Another subject's relying party is answered like an absent one. */
export const getRelyingParty = async (
  { store }: ServiceDeps,
  caller: Caller,
  did: string,
): Promise<RelyingPartyRecord> => {
  const relyingParty = await store.relyingParties.find(did);
  if (relyingParty === null || !mayReadRelyingParty(caller, relyingParty))
    throw notFound(`No relying party ${did}.`);
  return relyingParty;
};

export const updateRelyingParty = async (
  deps: ServiceDeps,
  caller: Caller,
  did: DidWeb,
  change: RelyingPartyChange,
  requestId: string,
): Promise<RelyingPartyRecord> => {
  requireSettingsWritable(caller);
  const before = await getRelyingParty(deps, caller, did);
  if (!isOther(before, change)) return before;
  return deps.store.transaction(
    async (tx) => {
      const updated = await tx.relyingParties.update(did, change);
      if (updated === null) throw notFound(`No relying party ${did}.`);
      assertStillOf(caller, updated, did);
      await lockLiveKey(tx, caller);
      const details = auditableChange(change);
      await tx.audit.insert(
        auditEvent(deps, caller, {
          action: 'relying_party.update',
          target: did,
          requestId,
          orgId: updated.orgId,
          details,
        }),
      );
      return updated;
    },
    { exclusiveKey: exclusiveKeyOfRelyingParty(did) },
  );
};

/** False when the change equals the stored settings; then nothing is changed or recorded. */
const isOther = (before: RelyingPartyRecord, change: RelyingPartyChange): boolean =>
  Object.entries(change).some(
    ([name, value]) => value !== undefined && value !== before[name as keyof RelyingPartyChange],
  );

const auditableChange = ({
  name,
  proofWindowSeconds,
  verifyRateLimitPerMinute,
  profile,
}: RelyingPartyChange) => ({
  ...(name === undefined ? {} : { name }),
  ...(proofWindowSeconds === undefined ? {} : { proof_window_seconds: proofWindowSeconds }),
  ...(verifyRateLimitPerMinute === undefined
    ? {}
    : { verify_rate_limit_per_minute: verifyRateLimitPerMinute }),
  ...(profile === undefined ? {} : { profile }),
});
