/**
 * What a Grant has used up of its budgets (interface §GET /grants/{id}/consumption). It is the business of the Principal,
 * of relying parties that have verified the Grant, of their orgs and of the operator; to all others there is no such Grant.
 */
import { type GrantId, type Sha256, snapshotHashOf } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { ConsumptionPage } from '../ports/consumption.ts';
import type { GrantRecord } from '../ports/grants.ts';

export interface ConsumptionQuery {
  readonly limit: number;
  /** Events below this version. */
  readonly cursor?: number | undefined;
}

export interface GrantConsumption extends ConsumptionPage {
  readonly grant: GrantRecord;
  readonly snapshotHash: Sha256;
  /** The `cursor` of the next page. */
  readonly nextCursor: number | null;
}

export const getConsumption = async (
  deps: ServiceDeps,
  caller: Caller,
  grantId: GrantId,
  { limit, cursor }: ConsumptionQuery,
): Promise<GrantConsumption> => {
  const grant = await deps.store.grants.find(grantId);
  if (grant === null || !(await mayRead(deps, caller, grant)))
    throw notFound(`No Grant ${grantId} for this key.`);
  const page = await deps.store.consumption.findPage(grantId, {
    ...(cursor === undefined ? {} : { beforeVersion: cursor }),
    limit,
  });
  const oldest = page.events.at(-1)?.version ?? 1;
  return {
    ...page,
    grant,
    snapshotHash: snapshotHashOf(deps.crypto, page.balances),
    nextCursor: oldest > 1 ? oldest : null,
  };
};

const mayRead = async (
  { store }: ServiceDeps,
  caller: Caller,
  { id: grantId, principal }: GrantRecord,
): Promise<boolean> => {
  // Anybody can sign a Grant under this id, and have it denied: only decisions about the Principal's own count.
  const isVerifiedBy = async (
    relyingParties: Parameters<typeof store.decisions.listIds>[0]['relyingParties'],
  ) => (await store.decisions.listIds({ relyingParties, grantId, principal }, 1)).length > 0;
  switch (caller.class) {
    case 'admin':
      return true;
    case 'principal':
      return caller.subject === principal;
    case 'rp':
      return isVerifiedBy([caller.subject]);
    case 'org': {
      if ((await store.principals.find(principal))?.orgId === caller.subject) return true;
      const members = await store.relyingParties.listOfOrg(caller.subject);
      return isVerifiedBy(members.map(({ did }) => did));
    }
    default:
      return false;
  }
};
