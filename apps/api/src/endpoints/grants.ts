/** Grants: reserve, list, read consumption, revoke (interface §Grants, §Consumable Grants). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp, snapshotOf } from '@svc/protocol';
import {
  actingPrincipal,
  allocateGrant,
  type ConsumptionEventRecord,
  type GrantAllocation,
  type GrantConsumption,
  type GrantRecord,
  getConsumption,
  listGrants,
  type Revocation,
  type Revoker,
  type ServiceDeps,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { parseStrictAgent } from './agents.ts';
import { formatTimestampOrNull } from './format-timestamp-or-null.ts';

export const grantEndpoints = (deps: ServiceDeps, revoker: Revoker): HandlersOf<'grants'> => ({
  allocateGrant: async ({ caller, body, requestId }) => {
    const agent = parseStrictAgent(deps, 'agent', body.agent);
    return { status: 201, body: presentAllocation(await allocateGrant(deps, caller, agent, requestId)) };
  },

  listGrants: async ({ caller, query }) => {
    const { items, nextCursor } = await listGrants(deps, caller, query);
    return { status: 200, body: { grants: items.map(presentGrantSummary), next_cursor: nextCursor } };
  },

  getGrantConsumption: async ({ caller, params, query }) => {
    const consumption = await getConsumption(deps, caller, params.id, query);
    return { status: 200, body: presentConsumption(consumption) };
  },

  /** Answers 200 only once the revocation is visible everywhere. */
  revokeGrant: async ({ caller, query, body, requestId }) => {
    const principal = await actingPrincipal(deps, caller, query.principal);
    const revocation = await revoker.revoke({ deps, caller, principal, grantId: body.grant_id, requestId });
    return { status: 200, body: presentRevocation(revocation) };
  },
});

const presentAllocation = ({
  grant,
  credentialStatus,
}: GrantAllocation): Body<Routes['allocateGrant'], 201> => ({
  id: grant.id,
  issuer: grant.principal,
  agent: grant.agent,
  credentialStatus,
  allocated_at: formatTimestamp(grant.allocatedAtMs),
});

type GrantSummary = Body<Routes['listGrants'], 200>['grants'][number];

/** A recorded revocation already denies, so the state says so; `revoked_at` follows once the barrier has passed. */
const presentGrantSummary = (grant: GrantRecord): GrantSummary => ({
  id: grant.id,
  principal: grant.principal,
  agent: grant.agent,
  status_list: grant.statusListUrl,
  status_list_index: grant.statusIndex,
  allocated_at: formatTimestamp(grant.allocatedAtMs),
  revoked_at: formatTimestampOrNull(grant.revokedAtMs),
  state: grant.revocationRecordedAtMs === null ? 'active' : 'revoked',
});

export const presentRevocation = ({
  grantId,
  revokedAtMs,
}: Revocation): Body<Routes['revokeGrant'], 200> => ({
  grant_id: grantId,
  revoked: true,
  revoked_at: formatTimestamp(revokedAtMs),
});

type ConsumptionBody = Body<Routes['getGrantConsumption'], 200>;

/** The balances have the form that their hash covers. */
const presentConsumption = (consumption: GrantConsumption): ConsumptionBody => {
  const { grant, balances, events, asOfMs, snapshotHash, nextCursor } = consumption;
  return {
    grant_id: grant.id,
    principal: grant.principal,
    agent: grant.agent,
    version: balances.version,
    as_of: formatTimestamp(asOfMs),
    snapshot_hash: snapshotHash,
    capabilities: [...snapshotOf(balances).capabilities],
    events: events.map(presentConsumptionEvent),
    next_cursor: nextCursor,
  };
};

const presentConsumptionEvent = (event: ConsumptionEventRecord): ConsumptionBody['events'][number] => ({
  version: event.version,
  key: event.key,
  delta_total: event.deltaTotal,
  delta_period: event.deltaPeriod,
  delta_uses: event.deltaUses,
  period_start: formatTimestampOrNull(event.periodStartMs),
  cause: event.cause,
  cause_id: event.causeId,
  receipt_id: event.receiptId,
  recorded_at: formatTimestamp(event.recordedAtMs),
});
