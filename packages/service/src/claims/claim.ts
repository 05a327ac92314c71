/**
 * Claims of hosted DIDs (protocol §13). Whoever registers a DID has not shown that it is theirs, so what an org registers is
 * a claim until the domain is proven: it expires, yields to proof, and a relying party decides nothing under it. The
 * operator answers for what it registers itself.
 */
import { DAY_MS, type OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict } from '../errors.ts';

const CLAIM_DAYS = 7;
export const CLAIM_MS = CLAIM_DAYS * DAY_MS;

/** An org that registers this many DIDs at a time proves some of them, or waits. */
export const MAX_OPEN_CLAIMS = 100;
/** How many of each kind may be made under a name that may be somebody else's. */
export const MAX_MADE_UNDER_CLAIM = 1_000;

/** Principal or relying party, as far as claims go. */
export interface Claimable {
  readonly orgId: OrgId | null;
  readonly claimExpiresAtMs: number | null;
}

type Deps = Pick<ServiceDeps, 'store' | 'clock'>;

/** When a registration by this caller expires unless it is proven; null for one that is no claim. */
export const claimExpiryFor = ({ clock }: Pick<Deps, 'clock'>, caller: Caller): number | null =>
  caller.class === 'admin' ? null : clock.nowMs() + CLAIM_MS;

/** Throws `CONFLICT` where the org has too many claims that it has not proven. */
export const requireRoomForClaim = async ({ store }: Deps, orgId: OrgId): Promise<void> => {
  if ((await store.claims.countOpen(orgId)) >= MAX_OPEN_CLAIMS) throw noRoom();
};

export const noRoom = () =>
  conflict(
    `This org has ${MAX_OPEN_CLAIMS} DIDs whose domains it has not proven. Prove some, or wait until they expire.`,
  );
