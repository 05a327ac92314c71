/** Decisions per UTC day (interface §GET /usage), every day of the period listed. */
import type { ApiKeyId, DidWeb } from '@svc/protocol';
import type { Caller } from '../callers/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import type { Day } from '../ports/checkpoints.ts';
import type { DayCount, DayKeyCount } from '../ports/usage.ts';
import { type Counts, getOrMake, Tally } from './counts.ts';
import { daysOf, parseRange, type Range, type RangeQuery } from './range.ts';
import { usageScope } from './scope.ts';

export interface UsageQuery extends RangeQuery {
  readonly rp?: DidWeb | undefined;
  readonly principal?: DidWeb | undefined;
  readonly key_id?: ApiKeyId | undefined;
  readonly by?: 'key' | undefined;
}

export interface UsageOfDay extends Counts {
  readonly day: Day;
  readonly reasons: ReadonlyMap<string, number>;
  /** Null: receipts recorded before keys were tracked. Present when asked for. */
  readonly keys?: ReadonlyMap<ApiKeyId | null, Counts>;
}

export interface Usage extends Range {
  /** Null: every one. */
  readonly relyingParties: readonly DidWeb[] | null;
  readonly principal: DidWeb | null;
  readonly keyId: ApiKeyId | null;
  readonly totals: Counts;
  readonly days: readonly UsageOfDay[];
}

export const getUsage = async (
  deps: Pick<ServiceDeps, 'store' | 'clock'>,
  caller: Caller,
  query: UsageQuery,
): Promise<Usage> => {
  const range = parseRange(query, deps.clock.nowMs());
  const scope = await usageScope(deps, caller, query);
  const { key_id: keyId, by } = query;
  const filter = { ...range, ...scope, ...(keyId === undefined ? {} : { keyId }) };
  const byKey = by === 'key';
  const { usage } = deps.store;
  const rows = byKey ? await usage.countByDayAndKey(filter) : await usage.countByDay(filter);
  return {
    ...range,
    relyingParties: scope.relyingParties,
    principal: scope.principal ?? null,
    keyId: keyId ?? null,
    ...addUp(daysOf(range), rows, byKey),
  };
};

const addUp = (
  days: readonly Day[],
  rows: readonly (DayCount | DayKeyCount)[],
  byKey: boolean,
): Pick<Usage, 'totals' | 'days'> => {
  const totals = new Tally();
  const tallies = new Map(days.map((day) => [day, new DayTally()]));
  for (const row of rows) {
    totals.add(row.reason, row.verifies);
    getOrMake(tallies, row.day, () => new DayTally()).addRow(row);
  }
  const listed = [...tallies].map(([day, { counts, reasons, keys }]) => ({
    day,
    ...counts,
    reasons,
    ...(byKey ? { keys: new Map([...keys].map(([id, tally]) => [id, tally.counts])) } : {}),
  }));
  return { totals: totals.counts, days: listed };
};

class DayTally extends Tally {
  readonly keys = new Map<ApiKeyId | null, Tally>();

  addRow(row: DayCount | DayKeyCount): void {
    this.add(row.reason, row.verifies);
    if ('keyId' in row) getOrMake(this.keys, row.keyId, () => new Tally()).add(row.reason, row.verifies);
  }
}
