/**
 * Registers a DID that is taken already. An unproven claim yields to the operator, to an org that proves the domain,
 * and, after its expiry, to anybody. Every other registration stays.
 */
import { type DidWeb, encodeBase64url, type OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { tenantOf } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict } from '../errors.ts';
import type { ClaimKind } from '../ports/claims.ts';
import type { Repositories } from '../ports/store.ts';
import { domainOf } from '../principals/domain.ts';
import { proofPlaces } from '../principals/verification.ts';
import { type Claimable, claimExpiryFor, MAX_OPEN_CLAIMS, noRoom, requireRoomForClaim } from './claim.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'identity' | 'domainProver'>;

export interface Registering {
  readonly caller: Caller;
  readonly did: DidWeb;
  readonly kind: ClaimKind;
  /** The org that the registration is for. */
  readonly orgId: OrgId | null;
}

/** The claim with which the registration of a hosted DID begins. */
export interface Claim {
  readonly token: string;
  /** Null: the registration is not a claim, or is proven already. */
  readonly expiresAtMs: number | null;
  /** True when the domain publishes the token. */
  readonly isProven: boolean;
  /** True when it replaces every other claim, not only an expired one. */
  readonly overrides: boolean;
}

/** The claim that may replace the present registration, if there is one. Throws `CONFLICT` when that one stays. */
export const claimDid = async (
  deps: Deps,
  registering: Registering,
  registered: Claimable | null,
): Promise<Claim> => {
  const { caller, did, kind, orgId } = registering;
  const expiresAtMs = claimExpiryFor(deps, caller);
  const token = encodeBase64url(deps.random.bytes(24));
  const fresh = { token, expiresAtMs, isProven: false, overrides: caller.class === 'admin' };
  if (registered !== null && !yieldsAtOnce(deps, registered, caller)) {
    if (registered.claimExpiresAtMs === null || registered.orgId === orgId) throw taken(did);
    return contest(deps, registering, fresh);
  }
  if (expiresAtMs === null || orgId === null) return fresh;
  const told = await deps.store.claims.findContesting({ did, kind, orgId });
  if (told !== null) return checked(deps, registering, { ...fresh, token: told });
  await requireRoomForClaim(deps, orgId);
  return fresh;
};

/** The claim; marked proven when its domain publishes its token. */
const checked = async (deps: Deps, { caller, did }: Registering, claim: Claim): Promise<Claim> => {
  const asked = { did, domain: domainOf(did), token: claim.token };
  return (await deps.domainProver.check(asked, tenantOf(caller))) === 'proven'
    ? { ...claim, expiresAtMs: null, isProven: true, overrides: true }
    : claim;
};

const yieldsAtOnce = (
  { clock }: Pick<Deps, 'clock'>,
  { claimExpiresAtMs }: Claimable,
  caller: Caller,
): boolean => claimExpiresAtMs !== null && (caller.class === 'admin' || claimExpiresAtMs <= clock.nowMs());

/** Tells the org what to publish. The org gets the DID once the domain publishes it. */
const contest = async (deps: Deps, registering: Registering, fresh: Claim): Promise<Claim> => {
  const { did, kind, orgId } = registering;
  const { expiresAtMs } = fresh;
  if (orgId === null || expiresAtMs === null) throw taken(did);
  const token = await deps.store.claims.contest(
    { did, kind, orgId, token: fresh.token, expiresAtMs },
    MAX_OPEN_CLAIMS,
  );
  if (token === null) throw noRoom();
  const claim = await checked(deps, registering, { ...fresh, token });
  if (claim.isProven) return claim;
  const { dns_txt: txt } = proofPlaces(deps.identity, { did, domain: domainOf(did), token });
  throw conflict(
    `${did} is claimed by somebody who has not proven its domain. To take it over, publish the TXT record ` +
      `${txt.name} = ${txt.value} and repeat the call.`,
  );
};

/**
 * Deletes contesting claims, in the transaction of the registration. When the registration is not a claim, all of them
 * go; otherwise those of its own org.
 */
export const forgetContesting = async (
  { claims }: Pick<Repositories, 'claims'>,
  { did, kind, orgId }: Omit<Registering, 'caller'>,
  { expiresAtMs }: Claim,
): Promise<void> => {
  if (expiresAtMs === null) await claims.forgetContesting({ did, kind });
  else if (orgId !== null) await claims.forgetContesting({ did, kind, orgId });
};

export const taken = (did: DidWeb) => conflict(`${did} is already registered.`);
