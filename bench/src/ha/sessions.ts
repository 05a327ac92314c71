/**
 * Sessions that a fault leaves behind on the server: those that no process has, which keep their place until the server
 * notices.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Queryable } from './ledger.ts';
import type { Services } from './services.ts';

/** The server's own keep-alives notice after some 11 s (`packages/store-pg/src/client.ts`). */
const NOTICED_MS = 30_000;
const POLL_MS = 500;
/** Opened or closed between the two counts, or by a look-up of a connection of its own. */
const SPREAD = 2;
const ANSWER_MS = 2_000;

/** How many there are that no process has, once the server has had its time to notice. */
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

/** What the pools of these processes hold, as their metrics say. */
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
