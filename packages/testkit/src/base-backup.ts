// Copies a cluster while it runs, with the functions that every PostgreSQL has (pg_backup_start), since the embedded
// one comes without pg_basebackup.
import { spawnSync } from 'node:child_process';
import { appendFileSync, chownSync, cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withSession } from './store/session.ts';

/** Copies into an empty folder, which then has the form of `cluster` in the data folder of a server. */
export async function takeBaseBackup(
  { adminUrl, dataDir }: { readonly adminUrl: string; readonly dataDir: string },
  to: string,
): Promise<void> {
  await withSession(adminUrl, async (session) => {
    await session.query(`select pg_backup_start('base', true)`);
    // Files change during the copy; replaying the log repairs that. The copy keeps owners and modes.
    copyAll(join(dataDir, 'cluster'), to);
    const { rows } = await session.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
    writeLike(dataDir, join(to, 'pgdata', 'backup_label'), rows[0]?.labelfile ?? '');
  });
  rmSync(join(to, 'pgdata', 'postmaster.pid'), { force: true });
}

/** Fills an empty folder with the data of a server that follows the primary once it is started. */
export async function prepareStandby(
  primary: { readonly adminUrl: string; readonly dataDir: string },
  folder: string,
): Promise<void> {
  chownLike(primary.dataDir, folder);
  makeLike(primary.dataDir, join(folder, 'cluster'));
  await takeBaseBackup(primary, join(folder, 'cluster'));
  const { hostname, port, username, password } = new URL(primary.adminUrl);
  const pgdata = join(folder, 'cluster', 'pgdata');
  const source = `host=${hostname} port=${port} user=${username} password=${password}`;
  appendFileSync(join(pgdata, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  writeLike(pgdata, join(pgdata, 'standby.signal'), '');
}

/** Keeps owners and modes, which Node's own copying does not. Exit code 1 means that files vanished meanwhile. */
export const copyAll = (from: string, to: string): void => {
  if (process.platform === 'win32') {
    cpSync(from, to, { recursive: true });
    return;
  }
  const { status, stderr } = spawnSync('cp', ['-a', `${from}/.`, to], { encoding: 'utf8' });
  if (status !== 0 && !/No such file/.test(stderr)) throw new Error(`cp: ${stderr}`);
};

/** When running as root, new files must belong to the server's user. */
export const chownLike = (model: string, path: string): void => {
  const { uid, gid } = statSync(model);
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
};

export const makeLike = (model: string, folder: string): void => {
  mkdirSync(folder, { mode: 0o700 });
  chownLike(model, folder);
};

export const writeLike = (model: string, path: string, text: string): void => {
  writeFileSync(path, text, { mode: 0o600 });
  chownLike(model, path);
};
