/** One thing that must hold of a database, and how it is looked at. */
import type { QueryResultRow } from 'pg';
import type { Query } from './query.ts';
import type { ServiceKeys } from './service-keys.ts';

export interface Fault {
  /** The name of the check. */
  readonly check: string;
  /** What it is about: a receipt id, a day, a URL. */
  readonly where: string;
  readonly problem: string;
}

export interface CheckContext {
  /** One snapshot for all checks, so that a service at work disturbs none of them. Read only. */
  readonly query: Query;
  readonly keys: ServiceKeys;
  /** So many more things were looked at. */
  advance(count: number): void;
  report(where: string, problem: string): void;
}

export interface Check {
  readonly name: string;
  /** What holds when it finds nothing. */
  readonly promise: string;
  /** A query of one number: how many things there are to look at. */
  readonly countSql: string;
  run(context: CheckContext): Promise<void>;
}

/**
 * Every row of a table in the order of a key that is text, read in pages. `text` has the key of the last row as $1 (the
 * empty string at first) and the page size as $2.
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
