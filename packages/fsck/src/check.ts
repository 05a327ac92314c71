/** Defines an invariant of the database and its check. */
import type { QueryResultRow } from 'pg';
import type { Query } from './query.ts';
import type { ServiceKeys } from './service-keys.ts';

export interface Fault {
  /** The name of the check. */
  readonly check: string;
  /** The faulty record, for example a Receipt id, a day or a URL. */
  readonly where: string;
  readonly problem: string;
}

export interface CheckContext {
  /** Read-only. All checks share one snapshot, so concurrent writes do not affect them. */
  readonly query: Query;
  readonly keys: ServiceKeys;
  /** Whether another check reads packed days from their objects. */
  readonly hasObjects: boolean;
  /** Adds to the number of records checked. */
  advance(count: number): void;
  report(where: string, problem: string): void;
  /** Records a sentence for the operator that is not a fault. */
  note(text: string): void;
}

export interface Check {
  readonly name: string;
  /** The invariant that holds when there are no faults. */
  readonly promise: string;
  /** A query for the number of records to check. */
  readonly countSql: string;
  run(context: CheckContext): Promise<void>;
}

/** Reports each row of a query that selects faults. */
export const reportRows = async (
  { query, report }: Pick<CheckContext, 'query' | 'report'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<void> => {
  for (const { where, problem } of await query<{ where: string; problem: string }>(text, values))
    report(where, problem);
};

type Pairs = readonly (readonly [name: string, stored: unknown, said: unknown])[];

/** The pairs whose values differ. */
export const differing = (pairs: Pairs): Pairs => pairs.filter(([, stored, said]) => stored !== said);

/**
 * Every row of a table in the order of a text key, read in pages. `text` is the query, with the key of the last row as
 * $1 (the empty string at first) and the page size as $2.
 */
export async function* pages<Row extends QueryResultRow>(
  { query }: CheckContext,
  text: string,
  keyOf: (row: Row) => string,
  size = 500,
): AsyncGenerator<readonly Row[]> {
  let after = '';
  for (;;) {
    const rows = await query<Row>(text, [after, size]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = keyOf(last);
  }
}
