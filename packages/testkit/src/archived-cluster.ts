// A cluster that archives its log, base backups of it, and its restore to a point in time, with settings that every
// PostgreSQL has (archive_command, restore_command).
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import { chownLike, copyAll, makeLike, takeBaseBackup, writeLike } from './base-backup.ts';
import { makeClusterFolder } from './cluster-folder.ts';
import { databaseUrl, execute } from './database.ts';
import { type OwnCluster, startOwnCluster } from './own-cluster.ts';
import { withSession } from './store/session.ts';

export interface ArchivedCluster extends OwnCluster {
  /** Copies the data folder while the server runs. */
  takeBaseBackup(): Promise<void>;
  /** Creates a named point that can be restored to. */
  markPoint(name: string): Promise<void>;
  /** Ends this server and starts another on the base backup, rolled forward to the point. */
  restoreTo(name: string): Promise<RestoredCluster>;
}

export interface RestoredCluster {
  readonly url: string;
  /** A superuser's URL on the server's `postgres` database. */
  readonly adminUrl: string;
  stop(): Promise<void>;
}

const MINUTES = 60_000;

export async function startArchivedCluster(): Promise<ArchivedCluster> {
  const cluster = await startOwnCluster();
  const archive = join(cluster.dataDir, 'archive');
  const backup = join(cluster.dataDir, 'backup');
  for (const folder of [archive, backup]) makeLike(cluster.dataDir, folder);
  await execute(cluster.adminUrl, `ALTER SYSTEM SET archive_mode = 'on'`);
  await execute(cluster.adminUrl, `ALTER SYSTEM SET archive_command = 'cp "%p" "${archive}/%f"'`);
  await cluster.restart();
  return Object.assign(Object.create(cluster) as OwnCluster, {
    takeBaseBackup: () => takeBaseBackup(cluster, backup),
    async markPoint(name: string) {
      await execute(cluster.adminUrl, `select pg_create_restore_point('${name}')`);
    },
    async restoreTo(name: string) {
      await archiveAll(cluster.adminUrl);
      return restore({ cluster, archive, backup, name });
    },
  });
}

/** Waits until everything written so far is in the archive. */
async function archiveAll(adminUrl: string): Promise<void> {
  await withSession(adminUrl, async (session) => {
    const { rows } = await session.query<{ file: string }>('select pg_walfile_name(pg_switch_wal()) as file');
    const giveUpMs = performance.now() + MINUTES;
    for (;;) {
      const { rows: found } = await session.query<{ done: boolean }>(
        'select coalesce(last_archived_wal >= $1, false) as done from pg_stat_archiver',
        [rows[0]?.file],
      );
      if (found[0]?.done === true) return;
      if (performance.now() > giveUpMs) throw new Error('the log is not archived');
      await session.query('select pg_stat_clear_snapshot()');
    }
  });
}

interface Restoring {
  readonly cluster: OwnCluster;
  readonly archive: string;
  readonly backup: string;
  readonly name: string;
}

async function restore({ cluster, archive, backup, name }: Restoring): Promise<RestoredCluster> {
  const folder = makeClusterFolder();
  chownLike(cluster.dataDir, folder);
  makeLike(cluster.dataDir, join(folder, 'cluster'));
  copyAll(backup, join(folder, 'cluster'));
  const pgdata = join(folder, 'cluster', 'pgdata');
  const settings = [
    `restore_command = 'cp "${archive}/%f" "%p"'`,
    `recovery_target_name = '${name}'`,
    `recovery_target_action = 'promote'`,
    `archive_mode = 'off'`,
  ];
  appendFileSync(join(pgdata, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  writeLike(pgdata, join(pgdata, 'recovery.signal'), '');
  const server = await startEmbeddedPostgres({ dataDir: folder });
  await withSession(server.url, async (session) => {
    const giveUpMs = performance.now() + MINUTES;
    for (let isRecovering = true; isRecovering; ) {
      if (performance.now() > giveUpMs) throw new Error('the restore does not come to its point');
      const { rows } = await session.query<{ is: boolean }>('select pg_is_in_recovery() as is');
      isRecovering = rows[0]?.is !== false;
    }
  });
  return {
    url: databaseUrl(server.url, 'svc'),
    adminUrl: server.url,
    stop: async () => {
      await server.stop({ deadlineMs: 0 });
      await removeEmbeddedPostgres(folder);
    },
  };
}
