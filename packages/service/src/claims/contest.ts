/**
 * A registration of a DID that is taken already. A claim that is not proven yields to the operator, to whoever proves the
 * domain, and, once its time is over, to anybody; everything else that is registered stays.
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
  /** That the registration is for. */
  readonly orgId: OrgId | null;
}

/** What a registration of a hosted DID begins with. */
export interface Claim {
  readonly token: string;
  /** Null: no claim, or one that is proven already. */
  readonly expiresAtMs: number | null;
  /** The domain publishes the token. */
  readonly isProven: boolean;
  /** It takes the place of any other claim, not only of one whose time is over. */
  readonly overrides: boolean;
}

/** The claim that may take the place of what is registered, if anything is. Throws `CONFLICT`. */
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

/** The claim, proven where its domain publishes its token. */
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

/** The org is told what to publish, and has the DID once it is there. */
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

/** After the registration, in its transaction: nobody contests what is no claim, and its own org no longer does. */
export const forgetContesting = async (
  { claims }: Pick<Repositories, 'claims'>,
  { did, kind, orgId }: Omit<Registering, 'caller'>,
  { expiresAtMs }: Claim,
): Promise<void> => {
  if (expiresAtMs === null) await claims.forgetContesting({ did, kind });
  else if (orgId !== null) await claims.forgetContesting({ did, kind, orgId });
};

export const taken = (did: DidWeb) => conflict(`${did} is already registered.`);
