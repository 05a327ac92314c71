/** What a Grant has used up of its budgets (interface §GET /grants/{id}/consumption). */
import { type GrantId, type Sha256, snapshotHashOf } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { consumptionReadableSince } from '../access/decision-scope.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { ConsumptionPage } from '../ports/consumption.ts';
import type { GrantRecord } from '../ports/grants.ts';

export interface ConsumptionQuery {
  readonly limit: number;
  /** Only events with a lower version are listed. */
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
  const sinceMs = grant === null ? null : await consumptionReadableSince(deps, caller, grant);
  if (grant === null || sinceMs === null || !Number.isFinite(sinceMs))
    throw notFound(`No Grant ${grantId} for this key.`);
  const page = await deps.store.consumption.findPage(grantId, {
    beforeVersion: cursor,
    limit,
    sinceMs,
  });
  // A page that is not full is the last one, even when the Grant has older events that this caller may not read.
  const oldest = page.events.length < limit ? 1 : (page.events.at(-1)?.version ?? 1);
  return {
    ...page,
    grant,
    snapshotHash: snapshotHashOf(deps.crypto, page.balances),
    nextCursor: oldest > 1 ? oldest : null,
  };
};
