/** A streaming standby of a database of the benchmark. */
import { appendFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import { chownLike, makeLike, takeBaseBackup, writeLike } from '@svc/testkit/base-backup';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Database } from '../harness/database.ts';

/**
 * Answers its URL, of the same database as the primary's. It lies beside the primary's data: where root starts the
 * servers, a folder of the benchmark is out of reach for the user they run as.
 */
export async function startStandby(primary: Database, cleanup: Cleanup): Promise<string> {
  const folder = `${primary.dataDir}-standby`;
  await mkdir(folder, { mode: 0o700 });
  chownLike(primary.dataDir, folder);
  makeLike(primary.dataDir, join(folder, 'cluster'));
  await takeBaseBackup(primary, join(folder, 'cluster'));
  const pgdata = join(folder, 'cluster', 'pgdata');
  const { hostname, port, username, password } = new URL(primary.adminUrl);
  const source = `host=${hostname} port=${port} user=${username} password=${password}`;
  appendFileSync(join(pgdata, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  writeLike(pgdata, join(pgdata, 'standby.signal'), '');
  const server = await startEmbeddedPostgres({ dataDir: folder, durable: true });
  cleanup.add(async () => {
    await server.stop();
    for (const place of new Set([server.dataDir, folder])) await removeEmbeddedPostgres(place);
  });
  if (server.dataDir !== folder)
    throw new Error(`the server runs in ${server.dataDir}, and not on the standby's data`);
  const url = new URL(primary.url);
  url.port = new URL(server.url).port;
  return url.href;
}
