/**
 * Days whose Receipts are not in the database. What depends on these Receipts is compared with the day's objects, if at
 * all (checks/cold-facts.ts).
 */
import type { Query } from './query.ts';

/** A query of one column. */
export const COLD_DAYS = `select day from cold_days where state = 'cold'`;

/**
 * With the bounds of the days' Receipt ids. Callers should materialize it, because each bound takes some microseconds
 * to compute.
 */
export const COLD_RANGES = `
  select day, svc_lowest_receipt_id(day::timestamp at time zone 'UTC') as first,
    svc_lowest_receipt_id((day + 1)::timestamp at time zone 'UTC') as behind
  from (${COLD_DAYS}) as d`;

/** `YYYY-MM-DD`. */
export const listColdDays = async ({ query }: { readonly query: Query }): Promise<ReadonlySet<string>> => {
  const rows = await query<{ day: string }>(`select day::text as day from (${COLD_DAYS}) as cold`);
  return new Set(rows.map(({ day }) => day));
};
