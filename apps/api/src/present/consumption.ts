/** The consumption of a Grant on the wire (interface §Consumable Grants). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp, snapshotOf } from '@svc/protocol';
import type { ConsumptionEventRecord, GrantConsumption } from '@svc/service';

type Presented = Body<Routes['getGrantConsumption'], 200>;

/** The balances are written as their hash has them. */
export const presentConsumption = (consumption: GrantConsumption): Presented => {
  const { grant, balances, events, asOfMs, snapshotHash, nextCursor } = consumption;
  return {
    grant_id: grant.id,
    principal: grant.principal,
    agent: grant.agent,
    version: balances.version,
    as_of: formatTimestamp(asOfMs),
    snapshot_hash: snapshotHash,
    capabilities: [...snapshotOf(balances).capabilities],
    events: events.map(presentEvent),
    next_cursor: nextCursor,
  };
};

const presentEvent = (event: ConsumptionEventRecord): Presented['events'][number] => ({
  version: event.version,
  key: event.key,
  delta_total: event.deltaTotal,
  delta_period: event.deltaPeriod,
  delta_uses: event.deltaUses,
  period_start: event.periodStartMs === null ? null : formatTimestamp(event.periodStartMs),
  cause: event.cause,
  cause_id: event.causeId,
  receipt_id: event.receiptId,
  recorded_at: formatTimestamp(event.recordedAtMs),
});
