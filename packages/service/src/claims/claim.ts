/**
 * Claims of hosted DIDs (protocol §13). A registration does not show that the DID belongs to the org. Therefore a
 * registration by an org is a claim until the domain is proven: it expires, yields to a proof, and a relying party
 * cannot decide under it. The operator answers for what it registers itself.
 */
import { DAY_MS, type OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict } from '../errors.ts';

const CLAIM_DAYS = 7;
export const CLAIM_MS = CLAIM_DAYS * DAY_MS;

/** Maximum number of unproven claims of an org. An org with that many proves some of them, or waits. */
export const MAX_OPEN_CLAIMS = 100;
/** Maximum number of records of each kind made under a claimed name, which may belong to somebody else. */
export const MAX_MADE_UNDER_CLAIM = 1_000;

/** The members of a Principal or relying party that its claim consists of. */
export interface Claimable {
  readonly orgId: OrgId | null;
  readonly claimExpiresAtMs: number | null;
}

type Deps = Pick<ServiceDeps, 'store' | 'clock'>;

/** When a registration by this caller expires unless it is proven; null when it is not a claim. */
export const claimExpiryFor = ({ clock }: Pick<Deps, 'clock'>, caller: Caller): number | null =>
  caller.class === 'admin' ? null : clock.nowMs() + CLAIM_MS;

/** Throws `CONFLICT` when the org has too many unproven claims. */
export const requireRoomForClaim = async ({ store }: Deps, orgId: OrgId): Promise<void> => {
  if ((await store.claims.countOpen(orgId)) >= MAX_OPEN_CLAIMS) throw noRoom();
};

export const noRoom = () =>
  conflict(
    `This org has ${MAX_OPEN_CLAIMS} DIDs whose domains it has not proven. Prove some, or wait until they expire.`,
  );
