/** Sessions of the service on the server: what a fault leaves behind keeps its place there until the server notices. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Queryable } from './ledger.ts';

/**
 * The server's own keep-alives notice after some 11 s (`packages/store-pg/src/client.ts`); a pool that grew meanwhile closes what is
 * idle for a minute (`connections.ts`).
 */
const NOTICED_MS = 75_000;
const POLL_MS = 500;
/** Pools open and close some as the load goes. */
const SPREAD = 5;

export async function countSessions(database: Queryable): Promise<number> {
  const rows = await database.sql<{ count: number }>(
    "select count(*)::int from pg_stat_activity where datname = 'svc' and application_name = 'svc'",
  );
  return rows[0]?.count ?? 0;
}

/** How many there are more than before, once the server has had its time to notice. */
export async function countLeftBehind(database: Queryable, before: number): Promise<number> {
  const endsAt = performance.now() + NOTICED_MS;
  for (;;) {
    const more = (await countSessions(database)) - before;
    if (more <= SPREAD || performance.now() > endsAt) return more <= SPREAD ? 0 : more;
    await delay(POLL_MS);
  }
}
