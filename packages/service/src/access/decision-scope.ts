/**
 * Whose decisions a caller may list and count (interface §GET /decisions, §GET /usage, §GET /decisions/stats), and whose
 * consumption it may read. A subject that it may not see answers like an absent one.
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

/** `heldSinceMs`: what was decided before is of whoever held the DID then. */
export type HeldScope = Scope & { readonly heldSinceMs?: number };

export interface Asked {
  readonly rp?: DidWeb | undefined;
  readonly principal?: DidWeb | undefined;
}

/** A Principal's decisions are those against its Grants, wherever they were made; all others go by relying party. */
export const usageScope = async (deps: Deps, caller: Caller, asked: Asked): Promise<Scope> => {
  const { rp, principal } = asked;
  if (caller.class === 'principal') {
    if (principal !== undefined && principal !== caller.subject) throw noPrincipal(principal);
    return { relyingParties: rp === undefined ? null : [rp], principal: caller.subject };
  }
  if (caller.class === 'org' && principal !== undefined) {
    const members = await deps.store.principals.listDidsOfOrg(caller.subject);
    if (!members.includes(principal)) throw noPrincipal(principal);
    return { relyingParties: rp === undefined ? null : await membersAmong(deps, caller, rp), principal };
  }
  return relyingPartyScope(deps, caller, asked);
};

/**
 * What was decided about the Principal's own Grants, wherever; `rp` narrows it. For the Principal and its org. A row of
 * the ledger names it where P3 is true and nowhere else, so a Grant that was forged under its name is none of its own.
 * P3 is true of what the keys in the document of a domain have signed: whoever holds a hosted DID without having proven
 * that domain may be somebody else.
 */
export const principalScope = async (
  { store }: Deps,
  caller: Caller,
  did: DidWeb,
  rp: DidWeb | undefined,
): Promise<HeldScope & { readonly heldSinceMs: number }> => {
  const principal = await store.principals.find(did);
  if (principal === null || !mayReadPrincipal(caller, principal)) throw noPrincipal(did);
  if (principal.kind === 'hosted' && principal.verificationState !== 'verified')
    throw forbidden(`The domain of ${did} is not proven now. Once it is, its decisions are shown.`);
  const heldSinceMs = await store.principals.findHeldSince(did);
  // Gone since.
  if (!Number.isFinite(heldSinceMs)) throw noPrincipal(did);
  return { relyingParties: rp === undefined ? null : [rp], principal: did, heldSinceMs };
};

/** Decisions by relying party; `principal` narrows them. */
export const relyingPartyScope = async (
  deps: Deps,
  caller: Caller,
  { rp, principal }: Asked,
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

/** The relying parties of an org, or the one asked for. */
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
 * What a Grant has consumed is for its Principal, the relying parties that have verified it, their orgs and the operator.
 * Anybody can sign a Grant under this id and have it denied, so only decisions about the Principal's own count.
 */
export const mayReadConsumption = async (
  { store }: Deps,
  caller: Caller,
  { id: grantId, principal }: GrantRecord,
): Promise<boolean> => {
  const isVerifiedBy = (relyingParties: readonly DidWeb[]) =>
    store.decisions.hasVerified({ relyingParties, grantId, principal });
  switch (caller.class) {
    case 'admin':
      return true;
    case 'principal':
      return caller.subject === principal;
    case 'rp':
      return isVerifiedBy([caller.subject]);
    case 'org': {
      if ((await store.principals.find(principal))?.orgId === caller.subject) return true;
      return isVerifiedBy(await membersAmong({ store }, caller, undefined));
    }
    default:
      return false;
  }
};

const noRelyingParty = (did: DidWeb) => notFound(`No relying party ${did} for this key.`);
const noPrincipal = (did: DidWeb) => notFound(`No Principal ${did} for this key.`);
