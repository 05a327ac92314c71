/**
 * Counts of decisions (see migrations/0001-foundation/07-usage.sql). One statement adds up the counts, so the answer is
 * of one instant.
 *
 * `counted_before` is also read before that statement, only for the planner: as a value it excludes the partitions
 * below it, which would otherwise all be planned and locked. It only rises, so the value may be too low by then and
 * never too high. The statement itself decides what is added up.
 */
import {
  type DayCount,
  type DecisionFilter,
  type PrincipalFigure,
  StoreError,
  type TenantSummary,
  type UsageRepository,
} from '@svc/service';
import { againIfMoved, type ColdReader } from '../cold/cold-reader.ts';
import { type CountedColumn, withColdCounts } from '../cold/count-days.ts';
import { type Database, readValue, writeValue } from '../database.ts';
import { countByDayAndKey } from './usage-by-key.ts';
import {
  COUNTED_BY,
  type Counted,
  dayStatement,
  figuresStatement,
  splitDays,
  totalStatement,
} from './usage-statements.ts';

export function usageRepository(database: Database, cold: ColdReader): UsageRepository {
  /** `work` counts in one statement. It is given the counts of those partly covered days that are cold. */
  const counting = <T>(
    filter: DecisionFilter,
    columns: readonly CountedColumn[],
    work: (counted: Counted) => Promise<T>,
  ): Promise<T> =>
    againIfMoved({ database, cold }, (question) =>
      withColdCounts(question, { filter, columns, ranges: splitDays(filter).partial }, async (coldCounts) =>
        work({ before: await findCountedBefore(database), coldCounts }),
      ),
    );
  return {
    countByDay: (filter) =>
      counting(filter, COUNTED_BY.day, (counted) => database.read<DayCount>(dayStatement(filter, counted))),
    countByDayAndKey: (filter) =>
      counting(filter, COUNTED_BY.key, (counted) => countByDayAndKey(database, filter, counted)),
    figuresByPrincipal: (filter) =>
      counting(filter, COUNTED_BY.principal, (counted) =>
        database.read<PrincipalFigure>(figuresStatement(filter, counted)),
      ),
    countAll: async (apart) =>
      database.read<DayCount>(totalStatement(apart, await findCountedBefore(database))),
    async summarizeTenants({ orgs, subjects }) {
      const [row] = await database.read<{ summary: TenantSummary }>({
        text: tenantsSql,
        values: [orgs, subjects],
      });
      if (row === undefined) throw new StoreError('refused', 'the tenants were counted without a row');
      return row.summary;
    },
    async hasDecided(relyingParty) {
      // A separate statement: later reads have a snapshot that includes everything this one waited for.
      await database.write({ text: 'select svc_hold_days()', values: [] });
      const values = [relyingParty, await findCountedBefore(database)];
      return (await readValue<boolean>(database, hasDecidedSql, values)) ?? false;
    },
    async seal(nowMs) {
      const text = 'select svc_seal_ledger($1) as value';
      return (await writeValue<boolean>(database, text, [nowMs])) ?? false;
    },
    async countSealed(limit) {
      const text = 'select svc_count_usage($1) as value';
      return (await writeValue<number>(database, text, [limit])) ?? 0;
    },
  };
}

async function findCountedBefore(database: Database): Promise<string> {
  const text = 'select counted_before as value from ledger_count';
  const id = await readValue<string>(database, text);
  if (id === undefined) throw new StoreError('refused', 'the ledger has no count');
  return id;
}

// Counted receipts are in the sums, whether their day is hot or cold.
const hasDecidedSql = `
  select exists (select from usage_counts where relying_party = $1)
    or exists (select from receipts where receipt_id >= $2 and relying_party = $1) as value`;

const tenantsSql = `
  with principal as (
    select did, domain, kind, svc_verification_state(p) = 'verified' as is_verified, may_be_named,
      coalesce(org_id = any ($1::text[]), false) or did = any ($2::text[]) as is_apart
    from principals p
  ), relying_party as (
    select coalesce(org_id = any ($1::text[]), false) or did = any ($2::text[]) as is_apart
    from relying_parties
  ), organization as (
    select org_id = any ($1::text[]) as is_apart from orgs
  ), named as (
    select json_agg(json_build_object('did', did, 'domain', domain, 'kind', kind) order by did) as list
    from principal where is_verified and may_be_named and not is_apart
  ), principals as (
    select json_build_object(
      'verified', count(*) filter (where is_verified),
      'hostedVerified', count(*) filter (where is_verified and kind = 'hosted'),
      'hostedUnverified', count(*) filter (where not is_verified and kind = 'hosted'),
      'managed', count(*) filter (where kind = 'managed')) as counts
    from principal where not is_apart
  )
  select json_build_object(
    'principals', principals.counts,
    'relyingParties', (select count(*) from relying_party where not is_apart),
    'organizations', (select count(*) from organization where not is_apart),
    'named', coalesce(named.list, '[]'),
    'apart', json_build_object(
      'principals', (select count(*) from principal where is_apart),
      'relyingParties', (select count(*) from relying_party where is_apart),
      'organizations', (select count(*) from organization where is_apart))) as summary
  from principals, named`;
