/** Plain SQL that tests run beside the store. */
import { setTimeout as pause } from 'node:timers/promises';
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

/** Repeats the statement until it answers a row. */
export async function untilRow(session: pg.Client, text: string): Promise<void> {
  for (;;) {
    const { rowCount } = await session.query(text);
    if (rowCount) return;
  }
}

/** Resolves when `count` sessions of this database wait for a lock; other databases of the server do not count. */
export const untilWaiting = (session: pg.Client, count = 1): Promise<void> =>
  untilRow(
    session,
    // Statistics of other sessions are otherwise cached until the end of the transaction.
    `with renewed as materialized (select pg_stat_clear_snapshot())
     select from renewed, pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'
     having count(*) >= ${count}`,
  );

const GONE_WITHIN_MS = 20_000;

/**
 * Ends the sessions that the query names by `pid`, and resolves when they and their locks are gone, which is later than
 * the client's error. Answers how many there were.
 */
export async function endSessions(url: string, pids: string): Promise<number> {
  const sessions = await runSql<{ pid: number; isGone: boolean }>(
    url,
    `select pid, pg_terminate_backend(pid, ${GONE_WITHIN_MS}) as "isGone" from (${pids}) as named`,
  );
  const left = sessions.filter(({ isGone }) => !isGone).map(({ pid }) => pid);
  if (left.length > 0) throw new Error(`not ended in ${GONE_WITHIN_MS} ms: ${left.join(', ')}`);
  return sessions.length;
}

/**
 * Sends SIGKILL to a session's process. Resolves when the server has noticed, which then ends all other sessions and
 * recovers; until then it serves them. Rejects with ESRCH where there is no such process.
 */
export async function killSession(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  for (const endsAtMs = performance.now() + GONE_WITHIN_MS; isThere(pid); await pause(5))
    if (performance.now() > endsAtMs) throw new Error(`${pid} is there ${GONE_WITHIN_MS} ms after SIGKILL`);
}

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/**
 * Resolves when no session is left but this one and `kept` others. A server notices the death of a client when it next
 * writes to it, and releases the client's locks then.
 */
export const untilAlone = (url: string, kept = 0): Promise<void> =>
  withSession(url, (session) =>
    untilRow(
      session,
      `with renewed as materialized (select pg_stat_clear_snapshot(), pg_sleep(0.01))
       select from renewed, pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
       having count(*) <= ${kept}`,
    ),
  );

/** Replaces a part of an existing function; answers its former source. */
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
