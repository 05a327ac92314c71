/**
 * The log of budget movements, and the balances. Balances are changed by the commit of decisions, and here by restores.
 */
import { applyConsumption, type Balances, findBalance, type GrantId, type Movement } from '@svc/protocol';
import type { ConsumptionPage, ConsumptionRepository, NewRestore, ReceiptConsumption } from '@svc/service';
import { type BalancesJson, balancesJson, balancesOf } from '../consumption-json.ts';
import type { Database } from '../database.ts';
import { afterLock } from '../locks.ts';

// One statement, so one snapshot: the events are those that the balances add up. It reads as many rows as a page may
// have and then drops those that are too early, which are the last ones.
const pageSql = `
  select svc_now() as "asOfMs", ${balancesJson('$1')} as balances,
    (select coalesce(json_agg(e.event), '[]') from (
      select json_build_object('version', version, 'key', key, 'deltaTotal', delta_total, 'deltaPeriod', delta_period,
        'deltaUses', delta_uses, 'periodStartMs', svc_ms(period_start), 'cause', cause, 'causeId', cause_id,
        'receiptId', receipt_id, 'recordedAtMs', svc_ms(recorded_at)) as event
      from (
        select * from consumption_events where grant_id = $1 and ($2::bigint is null or version < $2)
        order by version desc limit $3
      ) as c
      where $4::bigint is null or recorded_at >= svc_instant($4)
      order by version desc
    ) as e) as events`;

const ofReceiptSql = `
  select c.grant_id as "grantId", c.key, c.delta_total as "deltaTotal", c.delta_period as "deltaPeriod",
    c.delta_uses as "deltaUses", c.period_start as "periodStartMs", c.recorded_at as "recordedAtMs",
    json_build_object('total', b.limit_total, 'perPeriod', b.limit_per_period, 'uses', b.limit_uses) as limits,
    (select cause_id from consumption_events where receipt_id = $1 and cause = 'restore') as "restoreId",
    exists (select from consumption_events where receipt_id = $1 and cause = 'restore_reversal') as "isReversed"
  from consumption_events c join consumption_balances b on b.grant_id = c.grant_id and b.key = c.key
  where c.receipt_id = $1 and c.cause = 'consume'`;

const appendSql = `
  insert into consumption_events (grant_id, version, key, delta_total, delta_period, delta_uses, period_start,
    cause, cause_id, receipt_id, recorded_at)
  values ($1, $2, $3, $4, $5, $6, to_timestamp($7::bigint / 1000.0), $8, $9, $10, to_timestamp($11::bigint / 1000.0))`;

const balanceSql = `
  update consumption_balances set spent_total = $3, spent_in_period = $4, uses_spent = $5,
    updated_at = to_timestamp($6::bigint / 1000.0)
  where grant_id = $1 and key = $2`;

export function consumptionRepository(database: Database): ConsumptionRepository {
  return {
    async findPage(grantId, { beforeVersion, limit, sinceMs }) {
      const values = [grantId, beforeVersion ?? null, limit, sinceMs ?? null];
      const [row] = await database.read<PageRow>({ text: pageSql, values });
      if (row === undefined) throw new Error('a page without a row');
      return { ...row, balances: balancesOf(grantId, row.balances) };
    },
    async findOfReceipt(receiptId) {
      const [row] = await database.read<ReceiptRow>({ text: ofReceiptSql, values: [receiptId] });
      return row === undefined ? null : receiptConsumption(row);
    },
    async findForUpdate(grantId) {
      const text = `select ${balancesJson('$1')} as balances`;
      const [row] = await afterLock(database, 'balances', grantId, () =>
        database.read<{ balances: BalancesJson }>({ text, values: [grantId] }),
      );
      if (row === undefined) throw new Error('balances without a row');
      return balancesOf(grantId, row.balances);
    },
    async append(restore, balances, movementAt) {
      const [clock] = await database.read<{ nowMs: number }>({
        text: 'select svc_now() as "nowMs"',
        values: [],
      });
      const movement = movementAt(clock?.nowMs ?? 0);
      const after = applyConsumption(balances, movement);
      await database.write({ text: appendSql, values: eventValues(restore, after.version, movement) });
      await database.write({ text: balanceSql, values: balanceValues(after, movement) });
      return after.version;
    },
  };
}

type PageRow = Omit<ConsumptionPage, 'balances'> & { readonly balances: BalancesJson };

type ReceiptRow = Movement & {
  readonly grantId: GrantId;
  readonly restoreId: string | null;
  readonly isReversed: boolean;
};

const receiptConsumption = ({
  grantId,
  restoreId,
  isReversed,
  ...consumed
}: ReceiptRow): ReceiptConsumption => ({
  grantId,
  consumed,
  restore: restoreId === null ? null : { attestationId: restoreId, isReversed },
});

const eventValues = (
  { grantId, receiptId, attestationId, cause }: NewRestore,
  version: number,
  { key, deltaTotal, deltaPeriod, deltaUses, periodStartMs, recordedAtMs }: Movement,
): unknown[] => [
  grantId,
  version,
  key,
  deltaTotal,
  deltaPeriod,
  deltaUses,
  periodStartMs,
  cause,
  attestationId,
  receiptId,
  recordedAtMs,
];

const balanceValues = (after: Balances, { key }: Movement): unknown[] => {
  const balance = findBalance(after, key);
  return [
    after.grantId,
    key,
    balance?.spentTotal,
    balance?.spentInPeriod,
    balance?.usesSpent,
    balance?.updatedAtMs,
  ];
};
