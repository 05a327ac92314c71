/** Orgs and their members (interface §Org). Another caller's org is answered like an absent one. */
import { type DidWeb, encodeUlid, type OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { mayReadOrg } from '../access/reading.ts';
import { NAMES } from '../claims/release.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, notFound } from '../errors.ts';
import type { OrgRecord } from '../ports/orgs.ts';
import type { PrincipalMemberRecord } from '../ports/principals.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';
import { type Repositories, StoreError } from '../ports/store.ts';

export interface OrgMembers {
  readonly principals: readonly PrincipalMemberRecord[];
  readonly relyingParties: readonly RelyingPartyRecord[];
}

export type MemberKind = 'principal' | 'relying_party';

export const createOrg = async (
  { store, clock, random }: ServiceDeps,
  { slug, name }: Pick<OrgRecord, 'slug' | 'name'>,
): Promise<OrgRecord> => {
  const orgId = `org_${encodeUlid(clock.nowMs(), random.bytes(10))}` as OrgId;
  try {
    return await store.orgs.insert({ orgId, slug, name });
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'conflict')
      throw conflict(`slug: ${slug} is taken by another org.`);
    throw error;
  }
};

/** The org, if the caller may see it: the operator sees every org, an org key its own. */
export const getOrg = async (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Caller,
  orgId: OrgId,
): Promise<OrgRecord> => {
  const org = mayReadOrg(caller, orgId) ? await store.orgs.find(orgId) : null;
  if (org === null) throw notFound(`No org ${orgId}.`);
  return org;
};

export const listMembers = async (
  { store }: Pick<ServiceDeps, 'store'>,
  orgId: OrgId,
): Promise<OrgMembers> => ({
  principals: await store.principals.listOfOrg(orgId),
  relyingParties: await store.relyingParties.listOfOrg(orgId),
});

export interface NewMember {
  readonly did: DidWeb;
  /** Required for a DID that is both, unless one of them is in the org already. */
  readonly kind?: MemberKind | undefined;
}

/**
 * Puts the Principal or relying party into the org; no effect when it is in the org already. `CONFLICT` when it is in
 * another org. `CONFLICT` also when the DID is both and neither the call nor the org tells which is meant, because they
 * can belong to two customers.
 */
export const addMember = async (
  deps: Pick<ServiceDeps, 'store'>,
  caller: Caller,
  orgId: OrgId,
  { did, kind }: NewMember,
): Promise<MemberKind> => {
  await getOrg(deps, caller, orgId);
  const meant = kind ?? (await findMeant(deps, orgId, did));
  const repositoryOf = ({
    principals,
    relyingParties,
  }: Pick<Repositories, 'principals' | 'relyingParties'>) =>
    meant === 'principal' ? principals : relyingParties;
  if (await repositoryOf(deps.store).setOrg(did, orgId)) return meant;
  // It was absent, or in an org already. It is read again in a transaction, in case a transfer has moved it since; the
  // answer is given when what was read is durable.
  return deps.store.transaction(async (tx) => {
    const found = await repositoryOf(tx).find(did);
    if (found === null) throw notFound(`No ${NAMES[meant]} ${did}.`);
    if (found.orgId !== orgId) throw conflict(`${did} is in another org.`);
    return meant;
  });
};

/**
 * Which of the two the call means. A repeated call means the one that the first call put into the org, whatever else
 * has that DID by now.
 */
const findMeant = async (
  { store }: Pick<ServiceDeps, 'store'>,
  orgId: OrgId,
  did: DidWeb,
): Promise<MemberKind> => {
  const principal = await store.principals.find(did);
  const relyingParty = await store.relyingParties.find(did);
  if (principal === null && relyingParty === null) throw notFound(`No Principal or relying party ${did}.`);
  if (relyingParty === null || principal?.orgId === orgId) return 'principal';
  if (principal === null || relyingParty.orgId === orgId) return 'relying_party';
  throw conflict(
    `${did} is a Principal and a relying party, which may belong to two customers: say by \`kind\` which of them joins.`,
  );
};
