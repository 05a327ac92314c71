/** Replays the log of a Grant's budgets: gives each movement with the balances before it. */
import {
  applyConsumption,
  type Balances,
  emptyBalances,
  findBalance,
  type GrantId,
  type Limits,
  type Sha256,
} from '@svc/protocol';
import type { ConsumptionEventRecord } from '@svc/service';
import type { Query } from '../query.ts';

interface StoredBalance {
  readonly key: Sha256;
  readonly limits: Limits;
  readonly text: string;
}

export interface StoredEvent extends Omit<ConsumptionEventRecord, 'causeId'> {
  /** Whether the attestation that the event names exists, and the amounts that it restores or consumes again match. */
  readonly isCaused: boolean;
}

export interface Replayed {
  readonly event: StoredEvent;
  readonly before: Balances;
  /** Limits of the budget that the event moves. */
  readonly limits: Limits;
}

const BALANCES = `
  select key, json_build_object('total', limit_total, 'perPeriod', limit_per_period, 'uses', limit_uses) as limits,
    concat_ws(' ', spent_total, spent_in_period, coalesce(svc_ms(period_start)::text, '-'), uses_spent, svc_ms(updated_at))
      as text
  from consumption_balances where grant_id = $1 order by key`;

const PAGE = 500;

const EVENTS = `
  select e.version::float8 as version, e.key, e.delta_total::float8 as "deltaTotal",
    e.delta_period::float8 as "deltaPeriod", e.delta_uses::float8 as "deltaUses",
    svc_ms(e.period_start)::float8 as "periodStartMs", svc_ms(e.recorded_at)::float8 as "recordedAtMs",
    e.cause, e.receipt_id as "receiptId",
    e.cause = 'consume' or (a.consumption_cause = e.cause and a.consumption_version = e.version
      and a.receipt_id = e.receipt_id and c.grant_id = e.grant_id and c.key = e.key and c.version < e.version
      and c.period_start is not distinct from e.period_start
      and (e.cause = 'restore_reversal' or (c.delta_total, c.delta_period, c.delta_uses)
        = (-e.delta_total, -e.delta_period, -e.delta_uses))) is true as "isCaused"
  from consumption_events e
  left join attestations a on a.attestation_id = e.cause_id and e.cause <> 'consume'
  left join consumption_events c on c.receipt_id = e.receipt_id and c.cause = 'consume' and e.cause <> 'consume'
  where e.grant_id = $1 and e.version > $2 order by e.version limit ${PAGE}`;

/**
 * The log in pages. If the log is inconsistent, or does not give the stored balances, `report` is called, and what
 * comes after a gap is left out.
 */
export async function* replay(
  query: Query,
  grantId: GrantId,
  report: (problem: string) => void,
): AsyncGenerator<readonly Replayed[]> {
  const stored = await query<StoredBalance>(BALANCES, [grantId]);
  const limitsOf = new Map(stored.map(({ key, limits }) => [key, limits]));
  let balances = emptyBalances(grantId);
  for (;;) {
    const events = await query<StoredEvent>(EVENTS, [grantId, balances.version]);
    const page: Replayed[] = [];
    let problem: string | null = null;
    for (const event of events) {
      const moved = move(balances, event, limitsOf.get(event.key));
      if (typeof moved === 'string') {
        problem = moved;
        break;
      }
      page.push(moved.replayed);
      balances = moved.after;
    }
    yield page;
    if (problem !== null) return report(problem);
    if (events.length < PAGE) break;
  }
  for (const { key, text } of stored)
    if (text !== textOf(balances, key)) report(`the balance of ${key} is not what its log adds up to`);
}

/** The balances after the movement, or why it cannot be made on these balances. */
const move = (
  before: Balances,
  event: StoredEvent,
  limits: Limits | undefined,
): { readonly replayed: Replayed; readonly after: Balances } | string => {
  if (event.version !== before.version + 1) return `its log has no version ${before.version + 1}`;
  if (limits === undefined) return `there is no balance of ${event.key}`;
  try {
    return { replayed: { event, before, limits }, after: applyConsumption(before, { ...event, limits }) };
  } catch (error) {
    return `version ${event.version}: ${String(error)}`;
  }
};

const textOf = (balances: Balances, key: Sha256): string | null => {
  const balance = findBalance(balances, key);
  if (balance === null) return null;
  const { spentTotal, spentInPeriod, periodStartMs, usesSpent, updatedAtMs } = balance;
  return [spentTotal, spentInPeriod, periodStartMs ?? '-', usesSpent, updatedAtMs].join(' ');
};
