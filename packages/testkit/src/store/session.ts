/** Plain SQL for what a test does beside the store. */
import pg from 'pg';

/** Runs `work` with a connection of its own. */
export async function withSession<T>(url: string, work: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = new pg.Client({ connectionString: url });
  session.on('error', () => {});
  await session.connect();
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

/** One statement on a connection of its own. */
export const runSql = <Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => withSession(url, async (session) => (await session.query<Row>(text, values)).rows);

/** Asks again and again until the statement answers a row. */
export async function untilRow(session: pg.Client, text: string): Promise<void> {
  for (;;) {
    const { rowCount } = await session.query(text);
    if (rowCount) return;
  }
}

/** Resolves when so many sessions of this database wait for a lock; what others on the server wait for is not meant. */
export const untilWaiting = (session: pg.Client, count = 1): Promise<void> =>
  untilRow(
    session,
    // What is shown of others is otherwise remembered until the end of the transaction.
    `with renewed as materialized (select pg_stat_clear_snapshot())
     select from renewed, pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'
     having count(*) >= ${count}`,
  );

/** Replaces a part of a function in force; answers its whole source as it was. */
export async function alterFunction(
  url: string,
  name: string,
  part: string,
  replacement: string,
): Promise<string> {
  const [row] = await runSql<{ source: string }>(url, 'select pg_get_functiondef($1::regproc) as source', [
    name,
  ]);
  if (!row?.source.includes(part)) throw new Error(`${name} has no ${part}`);
  await runSql(
    url,
    row.source.replace(part, () => replacement),
  );
  return row.source;
}
