/**
 * Which decisions a caller may list and count (interface §GET /decisions, §GET /usage, §GET /decisions/stats), and of
 * which Grants it may read the consumption. A subject that the caller may not see is answered like an absent one.
 */
import type { DidWeb } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, notFound } from '../errors.ts';
import type { GrantRecord } from '../ports/grants.ts';
import type { DecisionFilter } from '../ports/usage.ts';
import type { Caller } from './caller.ts';
import { mayReadPrincipal } from './reading.ts';

type Deps = Pick<ServiceDeps, 'store'>;
export type Scope = Pick<DecisionFilter, 'relyingParties' | 'principal'>;

/** `heldSinceMs`: decisions before this instant belong to the DID's former holder. */
export type HeldScope = Scope & { readonly heldSinceMs?: number };

export interface RequestedScope {
  readonly rp?: DidWeb | undefined;
  readonly principal?: DidWeb | undefined;
}

/**
 * Scope of usage counts. For a Principal, or a member Principal that an org key names, it is the decisions about its
 * Grants at every relying party; otherwise it goes by relying party. A Principal whose domain is not proven also sees
 * the number of denials of its Grants, because interface §GET /usage has no 403.
 */
export const usageScope = async (deps: Deps, caller: Caller, asked: RequestedScope): Promise<HeldScope> => {
  const { rp, principal } = asked;
  if (caller.class === 'principal') {
    if (principal !== undefined && principal !== caller.subject) throw noPrincipal(principal);
    return ownScope(deps, caller.subject, rp === undefined ? null : [rp]);
  }
  if (caller.class === 'org' && principal !== undefined) {
    const members = await deps.store.principals.listDidsOfOrg(caller.subject);
    if (!members.includes(principal)) throw noPrincipal(principal);
    return ownScope(deps, principal, rp === undefined ? null : await membersAmong(deps, caller, rp));
  }
  return relyingPartyScope(deps, caller, asked);
};

/** Throws `NOT_FOUND` when the Principal has been removed since it was looked up. */
const ownScope = async (
  { store }: Deps,
  principal: DidWeb,
  relyingParties: Scope['relyingParties'],
): Promise<HeldScope & { readonly heldSinceMs: number }> => {
  const heldSinceMs = await store.principals.findHeldSince(principal);
  if (!Number.isFinite(heldSinceMs)) throw noPrincipal(principal);
  return { relyingParties, principal, heldSinceMs };
};

/**
 * The decisions about the Principal's own Grants, at every relying party or at `rp` alone; for the Principal and its
 * org. A row of the ledger names a Principal only where P3 is true, so a Grant that was forged under its name is not
 * among them.
 *
 * P3 says that a key in the domain's DID document signed the Grant. The holder of a hosted DID that has not proven the
 * domain may be somebody other than the owner of these keys, so it is answered `FORBIDDEN`.
 */
export const principalScope = async (
  deps: Deps,
  caller: Caller,
  did: DidWeb,
  rp: DidWeb | undefined,
): Promise<HeldScope & { readonly heldSinceMs: number }> => {
  const { isProven, heldSinceMs } = await holdingOf(deps, caller, did);
  if (!isProven)
    throw forbidden(`The domain of ${did} is not proven now. Once it is, its decisions are shown.`);
  return { relyingParties: rp === undefined ? null : [rp], principal: did, heldSinceMs };
};

export interface Holding {
  /** False for a hosted Principal whose domain is not proven now. */
  readonly isProven: boolean;
  /** Records from before this instant belong to the DID's former holder. */
  readonly heldSinceMs: number;
}

/**
 * How the Principal `did` holds its DID. Throws `NOT_FOUND` when the caller may not read it, or when it is not
 * registered any more.
 */
export const holdingOf = async (deps: Deps, caller: Caller, did: DidWeb): Promise<Holding> => {
  const principal = await deps.store.principals.find(did);
  if (principal === null || !mayReadPrincipal(caller, principal)) throw noPrincipal(did);
  const isProven = principal.kind !== 'hosted' || principal.verificationState === 'verified';
  const { heldSinceMs } = await ownScope(deps, did, null);
  return { isProven, heldSinceMs };
};

/** Scope by relying party; `principal` narrows it. */
export const relyingPartyScope = async (
  deps: Deps,
  caller: Caller,
  { rp, principal }: RequestedScope,
): Promise<Scope> => ({
  relyingParties: await relyingPartiesVisibleTo(deps, caller, rp),
  ...(principal === undefined ? {} : { principal }),
});

const relyingPartiesVisibleTo = async (
  deps: Deps,
  caller: Caller,
  asked: DidWeb | undefined,
): Promise<readonly DidWeb[] | null> => {
  switch (caller.class) {
    case 'admin':
    case 'observer':
      return asked === undefined ? null : [asked];
    case 'rp':
      if (asked !== undefined && asked !== caller.subject) throw noRelyingParty(asked);
      return [caller.subject];
    case 'org':
      return membersAmong(deps, caller, asked);
    case 'principal':
    case 'provision':
      throw forbidden('This key may not read decisions by relying party.');
  }
};

/** The relying parties of an org, or only the one asked for. Throws `NOT_FOUND` when that one is not a member. */
const membersAmong = async (
  { store }: Deps,
  { subject }: Extract<Caller, { class: 'org' }>,
  asked: DidWeb | undefined,
): Promise<readonly DidWeb[]> => {
  const members = (await store.relyingParties.listOfOrg(subject)).map(({ did }) => did);
  if (asked === undefined) return members;
  if (!members.includes(asked)) throw noRelyingParty(asked);
  return [asked];
};

/**
 * The time, in milliseconds, from which on the caller may read the consumption of a Grant; null when it may not read
 * it.
 *
 * - The Principal of the Grant, and its org, read it from the time when the present holder got the DID.
 * - The operator, the relying parties that have verified the Grant, and their orgs read it from the beginning.
 *
 * Anybody can sign a Grant under this id and have it denied, so only decisions about the Principal's own Grant count as
 * a verification.
 */
export const consumptionReadableSince = async (
  { store }: Deps,
  caller: Caller,
  { id: grantId, principal }: GrantRecord,
): Promise<number | null> => {
  const sinceVerifiedBy = async (relyingParties: readonly DidWeb[]) =>
    (await store.decisions.hasVerified({ relyingParties, grantId, principal })) ? 0 : null;
  switch (caller.class) {
    case 'admin':
      return 0;
    case 'principal':
      return caller.subject === principal ? store.principals.findHeldSince(principal) : null;
    case 'rp':
      return sinceVerifiedBy([caller.subject]);
    case 'org': {
      const here = await store.principals.find(principal);
      const heldSinceMs =
        here?.orgId === caller.subject ? await store.principals.findHeldSince(principal) : null;
      if (heldSinceMs !== null && heldSinceMs === here?.createdAtMs) return heldSinceMs;
      // The DID was transferred to the org. If a relying party of the org has verified the Grant, the org reads the
      // consumption from the beginning.
      return (await sinceVerifiedBy(await membersAmong({ store }, caller, undefined))) ?? heldSinceMs;
    }
    default:
      return null;
  }
};

const noRelyingParty = (did: DidWeb) => notFound(`No relying party ${did} for this key.`);
const noPrincipal = (did: DidWeb) => notFound(`No Principal ${did} for this key.`);
