/**
 * Counts sessions that a fault leaves behind on the server: no process has them, and they keep their place until the
 * server notices.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Queryable } from './ledger.ts';
import type { Services } from './services.ts';

/**
 * Milliseconds within which the server's keep-alives must have found them; they take some 11 s
 * (`packages/store-pg/src/client.ts`).
 */
const NOTICED_MS = 30_000;
const POLL_MS = 500;
/** Sessions that may be opened or closed between the two counts, or by a look-up on its own connection. */
const SPREAD = 2;
const ANSWER_MS = 2_000;

/** Number of sessions that no process has, once the server has had its time to notice. */
export async function countLeftBehind(database: Queryable, services: Services): Promise<number> {
  const endsAt = performance.now() + NOTICED_MS;
  for (;;) {
    const [held, known] = [await countSessions(database), await countKnown(services.adminOrigins())];
    if (held - known <= SPREAD) return 0;
    if (performance.now() > endsAt) return held - known;
    await delay(POLL_MS);
  }
}

async function countSessions(database: Queryable): Promise<number> {
  const rows = await database.sql<{ count: number }>(
    "select count(*)::int from pg_stat_activity where datname = 'svc' and application_name = 'svc'",
  );
  return rows[0]?.count ?? 0;
}

/** Sessions that the pools of these processes hold, by their metrics. */
async function countKnown(adminOrigins: readonly string[]): Promise<number> {
  const texts = await Promise.all(
    adminOrigins.map(async (origin) => {
      const answer = await fetch(`${origin}/metrics`, { signal: AbortSignal.timeout(ANSWER_MS) });
      return answer.text();
    }),
  );
  const counts = texts.flatMap((text) => [
    ...text.matchAll(/^svc_storage_connections\{[^}]*state="(?:busy|idle)"[^}]*\} (\d+)$/gm),
  ]);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
