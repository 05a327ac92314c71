// A cluster that archives its log, base backups of it, and its restore to a point in time: with what every PostgreSQL has
// (pg_backup_start, archive_command, restore_command), since the embedded one comes without pg_basebackup.
import { spawnSync } from 'node:child_process';
import { appendFileSync, chownSync, cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import { Client } from 'pg';
import { makeClusterFolder } from './cluster-folder.ts';
import { databaseUrl, execute } from './database.ts';
import { type OwnCluster, startOwnCluster } from './own-cluster.ts';

export interface ArchivedCluster extends OwnCluster {
  /** A copy of the data folder, taken while the server works. */
  takeBaseBackup(): Promise<void>;
  /** A named point that can be restored to. */
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
  const pgdata = join(cluster.dataDir, 'cluster', 'pgdata');
  return Object.assign(Object.create(cluster) as OwnCluster, {
    async takeBaseBackup() {
      await withSession(cluster.adminUrl, async (session) => {
        await session.query(`select pg_backup_start('base', true)`);
        // Files change under the copy; the archived log puts that right. The copy keeps owners and modes.
        copyAll(join(cluster.dataDir, 'cluster'), backup);
        const { rows } = await session.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
        writeLike(pgdata, join(backup, 'pgdata', 'backup_label'), rows[0]?.labelfile ?? '');
      });
      rmSync(join(backup, 'pgdata', 'postmaster.pid'), { force: true });
    },
    async markPoint(name: string) {
      await execute(cluster.adminUrl, `select pg_create_restore_point('${name}')`);
    },
    async restoreTo(name: string) {
      await archiveAll(cluster.adminUrl);
      return restore({ cluster, archive, backup, name });
    },
  });
}

/** Waits until everything written so far lies in the archive. */
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

async function withSession<T>(url: string, work: (session: Client) => Promise<T>): Promise<T> {
  const session = new Client({ connectionString: url });
  await session.connect();
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

/** With owners and modes, which Node's own copying does not keep. Files may vanish meanwhile, which is exit code 1. */
const copyAll = (from: string, to: string) => {
  if (process.platform === 'win32') return cpSync(from, to, { recursive: true });
  const { status, stderr } = spawnSync('cp', ['-a', `${from}/.`, to], { encoding: 'utf8' });
  if (status !== 0 && !/No such file/.test(stderr)) throw new Error(`cp: ${stderr}`);
};

/** As root everything must stay the server's user's. */
const chownLike = (model: string, path: string) => {
  const { uid, gid } = statSync(model);
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
};

const makeLike = (model: string, folder: string) => {
  mkdirSync(folder, { mode: 0o700 });
  chownLike(model, folder);
};

const writeLike = (model: string, path: string, text: string) => {
  writeFileSync(path, text, { mode: 0o600 });
  chownLike(model, path);
};
