/** Orgs and their membership (interface §Org). A foreign org answers like an absent one. */
import { type DidWeb, encodeUlid, type OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { mayReadOrg } from '../access/reading.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, notFound } from '../errors.ts';
import type { OrgRecord } from '../ports/orgs.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';
import { StoreError } from '../ports/store.ts';
import { listOrgPrincipals } from './org-principals.ts';

export interface OrgMembers {
  readonly principals: readonly PrincipalRecord[];
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

/** The org if the caller may see it: the operator any, an org key its own. */
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
  principals: await listOrgPrincipals(store, orgId),
  relyingParties: await store.relyingParties.listOfOrg(orgId),
});

/**
 * Puts the Principal or relying party into the org; harmless when it is there already. A DID that is both is added one
 * call after the other, the Principal first. 409 when it is in another org.
 */
export const addMember = async (
  deps: Pick<ServiceDeps, 'store'>,
  caller: Caller,
  orgId: OrgId,
  did: DidWeb,
): Promise<MemberKind> => {
  const { store } = deps;
  await getOrg(deps, caller, orgId);
  if (await store.principals.setOrg(did, orgId)) return 'principal';
  if (await store.relyingParties.setOrg(did, orgId)) return 'relying_party';
  // Neither was without an org, and an org once given stays.
  const principal = await store.principals.find(did);
  if (principal?.orgId === orgId) return 'principal';
  const relyingParty = await store.relyingParties.find(did);
  if (relyingParty?.orgId === orgId) return 'relying_party';
  if (principal === null && relyingParty === null) throw notFound(`No Principal or relying party ${did}.`);
  throw conflict(`${did} is in another org.`);
};
