/** A streaming standby of a database of the benchmark. */
import { mkdir } from 'node:fs/promises';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import { prepareStandby } from '@svc/testkit/base-backup';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Database } from '../harness/database.ts';

/**
 * Returns the URL of the same database on the standby. Its files are beside the primary's: where root starts the
 * servers, the user they run as cannot reach a folder of the benchmark.
 */
export async function startStandby(primary: Database, cleanup: Cleanup): Promise<string> {
  const folder = `${primary.dataDir}-standby`;
  await mkdir(folder, { mode: 0o700 });
  await prepareStandby(primary, folder);
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
