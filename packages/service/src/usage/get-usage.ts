/** Numbers of decisions per UTC day (interface §GET /usage); every day of the period is listed. */
import type { ApiKeyId, DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { usageScope } from '../access/decision-scope.ts';
import type { ServiceDeps } from '../deps.ts';
import type { Day } from '../ports/checkpoints.ts';
import type { DayCount, DayKeyCount, DecisionFilter } from '../ports/usage.ts';
import { countDecisions } from './count-decisions.ts';
import { type Counts, getOrMake, Tally } from './counts.ts';
import { daysOf, parseRange, type Range, type RangeQuery } from './range.ts';

export interface UsageQuery extends RangeQuery {
  readonly rp?: DidWeb | undefined;
  readonly principal?: DidWeb | undefined;
  readonly key_id?: ApiKeyId | undefined;
  readonly by?: 'key' | undefined;
}

export interface UsageOfDay extends Counts {
  readonly day: Day;
  readonly reasons: ReadonlyMap<string, number>;
  /** Numbers by API key, present when asked for. The key null stands for receipts recorded before keys were tracked. */
  readonly keys?: ReadonlyMap<ApiKeyId | null, Counts>;
}

export interface Usage extends Range {
  /** Null: all relying parties. */
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
  const { heldSinceMs = 0, ...scope } = await usageScope(deps, caller, query);
  const { key_id: keyId, by } = query;
  const counted = await count(
    deps,
    {
      ...scope,
      ...(keyId === undefined ? {} : { keyId }),
      ...{ sinceMs: Math.max(range.sinceMs, heldSinceMs), untilMs: range.untilMs },
    },
    by === 'key',
  );
  return {
    ...range,
    relyingParties: scope.relyingParties,
    principal: scope.principal ?? null,
    keyId: keyId ?? null,
    ...addUp(daysOf(range), counted.days, counted.keys),
  };
};

interface Counted {
  readonly days: readonly DayCount[];
  readonly keys: readonly DayKeyCount[] | null;
}

/** Counts the decisions of the period; none when the period ended before the present holder got the DID. */
const count = async (
  deps: Pick<ServiceDeps, 'store'>,
  filter: DecisionFilter,
  byKey: boolean,
): Promise<Counted> => {
  if (filter.sinceMs >= filter.untilMs) return { days: [], keys: byKey ? [] : null };
  return countDecisions(deps, async (usage) =>
    byKey ? usage.countByDayAndKey(filter) : { days: await usage.countByDay(filter), keys: null },
  );
};

const addUp = (
  days: readonly Day[],
  rows: readonly DayCount[],
  keyRows: readonly DayKeyCount[] | null,
): Pick<Usage, 'totals' | 'days'> => {
  const totals = new Tally();
  const tallies = new Map(days.map((day) => [day, new Tally()]));
  for (const { day, reason, verifies } of rows)
    for (const tally of [totals, getOrMake(tallies, day, () => new Tally())]) tally.add(reason, verifies);
  const keys = keyRows === null ? null : keysByDay(keyRows);
  const listed = [...tallies].map(([day, { counts, reasons }]) => ({
    day,
    ...counts,
    reasons,
    ...(keys === null ? {} : { keys: keys.get(day) ?? new Map() }),
  }));
  return { totals: totals.counts, days: listed };
};

const keysByDay = (rows: readonly DayKeyCount[]): Map<Day, Map<ApiKeyId | null, Counts>> => {
  const days = new Map<Day, Map<ApiKeyId | null, Counts>>();
  for (const { day, keyId, allow, deny } of rows)
    getOrMake(days, day, () => new Map()).set(keyId, { verifies: allow + deny, allow, deny });
  return days;
};
