/**
 * Repeats each release and transfer of the lost span, as it was kept beside the fence, so that no former holder acts
 * for a DID. The settings of a relying party are restored too.
 */
import { type DidWeb, isJsonObject, type JsonObject, type OrgId, TRUST_CONFIG } from '@svc/protocol';
import { SYSTEM } from '../audit/audit-event.ts';
import { isReleasable, releaseDid } from '../claims/release.ts';
import { transferDid } from '../claims/transfer.ts';
import type { ServiceDeps } from '../deps.ts';
import type { ClaimKind } from '../ports/claims.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';
import type { FenceRecord } from './fence-records.ts';
import type { LoggedHandOver } from './read-log.ts';

/** Request id in the audit log. */
const REQUEST_ID = 'svc-admin-restore';

/** Most by which the clocks of a logging node and of the database differ: each may be off by the skew (protocol §7). */
const CLOCKS_APART_MS = 2 * TRUST_CONFIG.clockSkewSeconds * 1_000;

const KINDS = ['principal', 'relying_party'] as const;

/** Numbers of DIDs whose release or transfer the restore had undone and that were handed over again. */
export interface HandedOverAgain {
  readonly released: number;
  readonly transferred: number;
}

/** Every step is safe to repeat. Rejects with the error of the first step that fails. */
export const handOverAgain = async (
  deps: ServiceDeps,
  names: readonly FenceRecord[],
): Promise<HandedOverAgain> => {
  const counts = { released: 0, transferred: 0 };
  const waiting = await deps.store.restores.listWaitingVersions('name');
  for (const { name, kept } of names) {
    // A change that the database still has, and that was not copied yet, is later than the kept record.
    if (Number(kept.version) < (waiting.get(name) ?? 0)) continue;
    for (const kind of KINDS) {
      const done = await handOver(deps, kind, name as DidWeb, kept[kind]);
      if (done !== null) counts[done] += 1;
    }
  }
  return counts;
};

const findHere = (
  { store: { principals, relyingParties } }: ServiceDeps,
  kind: ClaimKind,
  did: string,
): Promise<PrincipalRecord | RelyingPartyRecord | null> =>
  kind === 'principal' ? principals.find(did) : relyingParties.find(did);

const handOver = async (
  deps: ServiceDeps,
  kind: ClaimKind,
  did: DidWeb,
  kept: JsonObject[string] | undefined,
): Promise<keyof HandedOverAgain | null> => {
  if (kept === undefined) return null;
  const here = await findHere(deps, kind, did);
  if (here === null) return null;
  if (!isJsonObject(kept) || kept.since_ms !== here.createdAtMs) return takeAway(deps, kind, here);
  if (kind === 'relying_party') await setAgain(deps, here as RelyingPartyRecord, kept);
  return move(deps, kind, here, kept.org_id);
};

const move = async (
  deps: ServiceDeps,
  kind: ClaimKind,
  { did, orgId }: PrincipalRecord | RelyingPartyRecord,
  toOrg: unknown,
): Promise<keyof HandedOverAgain | null> => {
  const toOrgId = await findOrg(deps, toOrg);
  if (toOrgId === orgId) return null;
  await transferDid(deps, { caller: SYSTEM, did, kind, toOrgId, requestId: REQUEST_ID });
  return 'transferred';
};

/**
 * Repeats hand-overs of the lost span that only the log has. A hand-over is skipped where the DID no longer has the
 * registration of that time or the org that it was taken from: then a record beside the fence was later.
 */
export const handOverLogged = async (
  deps: ServiceDeps,
  logged: readonly LoggedHandOver[],
  lostFromMs: number,
): Promise<HandedOverAgain> => {
  const counts = { released: 0, transferred: 0 };
  for (const { did, kind, sinceMs, atMs, fromOrg, toOrg } of logged) {
    if (atMs < lostFromMs - CLOCKS_APART_MS) continue;
    const here = await findHere(deps, kind, did);
    if (here === null || here.createdAtMs !== sinceMs || here.orgId !== fromOrg) continue;
    const done =
      toOrg === 'released' ? await takeAway(deps, kind, here) : await move(deps, kind, here, toOrg);
    if (done !== null) counts[done] += 1;
  }
  return counts;
};

/**
 * Repeats a release. Another holder may have registered the DID in the lost span; for that one the name is reserved.
 */
const takeAway = async (
  deps: ServiceDeps,
  kind: ClaimKind,
  here: PrincipalRecord | RelyingPartyRecord,
): Promise<keyof HandedOverAgain | null> => {
  const { did, orgId } = here;
  if (isReleasable(here)) {
    await releaseDid(deps, kind, did, { caller: SYSTEM, requestId: REQUEST_ID });
    return 'released';
  }
  if (orgId === null) return null;
  await transferDid(deps, { caller: SYSTEM, did, kind, toOrgId: null, requestId: REQUEST_ID });
  return 'transferred';
};

/**
 * The org, or null where it was created in the lost span and is missing: then its DIDs are in no org until an operator
 * acts.
 */
const findOrg = async ({ store }: ServiceDeps, orgId: unknown): Promise<OrgId | null> =>
  typeof orgId === 'string' && (await store.orgs.exists(orgId as OrgId)) ? (orgId as OrgId) : null;

const setAgain = async (
  { store }: ServiceDeps,
  here: RelyingPartyRecord,
  kept: JsonObject,
): Promise<void> => {
  const change = {
    proofWindowSeconds: Number(kept.proof_window_seconds),
    verifyRateLimitPerMinute: Number(kept.verify_rate_limit_per_minute),
    profile: kept.profile as string,
  };
  const isSame =
    change.proofWindowSeconds === here.proofWindowSeconds &&
    change.verifyRateLimitPerMinute === here.verifyRateLimitPerMinute &&
    change.profile === here.profile;
  if (!isSame) await store.transaction((tx) => tx.relyingParties.update(here.did, change));
};
