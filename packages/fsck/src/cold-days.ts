/** Days whose Receipts are not in the database: what rests on them is not compared. */
import type { Query } from './query.ts';

/** As a query, of one column. */
export const COLD_DAYS = `select day from cold_days where state = 'cold'`;

/** `YYYY-MM-DD`. */
export const listColdDays = async ({ query }: { readonly query: Query }): Promise<ReadonlySet<string>> => {
  const rows = await query<{ day: string }>(`select day::text as day from (${COLD_DAYS}) as cold`);
  return new Set(rows.map(({ day }) => day));
};
